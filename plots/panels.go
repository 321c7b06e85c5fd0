package plots

import (
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Panels are small charts in rows and columns. The panels of a row share their y
// axis, so that they can be held against each other.
type Panels struct {
	Heading
	Rows [][]Panel // the first is the longest
}

// A Panel is one small chart.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
	Note   string     // written where no point is
	Mark   float64    // a line right across, 0 for none
	Band   [2]float64 // across the panel, both 0 for none
	Words  string     // of Band, in the key

	Guide      []Point // a line to hold the series against; nil for none
	GuideWords string  // of Guide, in the key
}

const (
	panelGap    = 22 * vg.Length(1)
	titleIndent = 3 * vg.Length(1)
)

// guideStyle is that of lines that series are held against.
var guideStyle = draw.LineStyle{Color: softInk, Width: 1.4, Dashes: []vg.Length{12, 3, 2, 3}}

func (p *Panels) key() key {
	var k key
	named := map[string]bool{}
	var bands key // behind the series
	for _, row := range p.Rows {
		for _, panel := range row {
			for _, s := range panel.Series {
				if !named[s.Label] {
					named[s.Label] = true
					k = append(k, keyEntry{s.Label, textColor(s.color()), markerSign(s)})
				}
			}
			if panel.Band[1] > 0 && !named[panel.Words] {
				named[panel.Words] = true
				bands = append(bands, keyEntry{panel.Words, softInk, boxSign(gridLine, false)})
			}
			if panel.Guide != nil && !named[panel.GuideWords] {
				named[panel.GuideWords] = true
				bands = append(bands, keyEntry{panel.GuideWords, softInk, lineSign(guideStyle)})
			}
		}
	}
	return append(k, bands...)
}

// titleStyle is that of the titles of panels of a width: smaller if one needs it.
func (p *Panels) titleStyle(width vg.Length) text.Style {
	sty := aligned(bold(style(textSize, ink)), text.XLeft, text.YBottom)
	for _, row := range p.Rows {
		for _, panel := range row {
			for sty.Width(panel.Title) > width-titleIndent && sty.Font.Size > smallSize {
				sty.Font.Size -= 0.5
			}
		}
	}
	return sty
}

// columnsFor is how many panels have room side by side for their titles.
func columnsFor(titles []string) int {
	const yLabels = 60 // left of the first
	widest := vg.Length(0)
	for _, title := range titles {
		widest = max(widest, bold(style(smallSize, ink)).Width(title)+titleIndent)
	}
	return max(1, int((pageWidth-2*margin-yLabels+panelGap)/(widest+panelGap)))
}

// frames divides page, under a heading of the given height.
func (p *Panels) frames(page vg.Rectangle, head vg.Length) [][]frame {
	height := panelHeight * 1.15
	if len(p.Rows) == 1 {
		height = 280
	}
	var left vg.Length
	frames := make([][]frame, len(p.Rows))
	for i, row := range p.Rows {
		for _, panel := range row {
			f := frame{x: panel.X, y: panel.Y, box: vg.Rectangle{Max: vg.Point{Y: height}}}
			left = max(left, f.yWidth())
			frames[i] = append(frames[i], f)
		}
	}
	top := page.Max.Y - head
	title := lineHeight(style(textSize, ink))
	for i := range frames {
		n := vg.Length(len(frames[0]))
		width := (page.Max.X - page.Min.X - left - panelGap*(n-1)) / n
		deepest := vg.Length(0)
		for j := range frames[i] {
			f := &frames[i][j]
			f.box.Min.X = page.Min.X + left + vg.Length(j)*(width+panelGap)
			f.box.Max = vg.Point{X: f.box.Min.X + width, Y: top - title - 4}
			f.box.Min.Y = f.box.Max.Y - height
			deepest = max(deepest, f.xHeight())
		}
		top -= height + deepest + title*2 + 22
	}
	return frames
}

// Size returns the size of the page.
func (p *Panels) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	page := inset(ruler.Rectangle)
	frames := p.frames(page, headAndKey(&p.Heading, p.key(), ruler, page))
	last := frames[len(frames)-1]
	lowest := vg.Length(0)
	for _, f := range last {
		lowest = max(lowest, f.xHeight())
	}
	return pageWidth, pageHeight - last[0].box.Min.Y + lowest + lineHeight(style(textSize, ink)) + margin
}

// Draw draws the panels on canvas.
func (p *Panels) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	frames := p.frames(page, headAndKey(&p.Heading, p.key(), c, page))
	title := p.titleStyle(frames[0][0].box.Size().X)
	for i, row := range frames {
		for j, f := range row {
			panel := &p.Rows[i][j]
			f.drawY(c, j == 0)
			if j == 0 {
				c.FillText(aligned(style(textSize, ink), text.XLeft, text.YBottom),
					vg.Point{X: page.Min.X, Y: f.box.Max.Y + lineHeight(style(textSize, ink)) + 5}, f.y.Label)
			}
			c.FillText(title, vg.Point{X: f.box.Min.X + titleIndent, Y: f.box.Max.Y + 3}, panel.Title)
			panel.draw(c, f)
			f.drawX(c, true)
			f.drawXName(c, 0)
		}
	}
}

func (p *Panel) draw(c draw.Canvas, f frame) {
	if p.Band[1] > 0 {
		c.SetColor(gridLine)
		lo, hi := f.Y(max(p.Band[0], f.y.Min)), f.Y(min(p.Band[1], f.y.Max))
		c.Fill(vg.Rectangle{Min: vg.Point{X: f.box.Min.X + 1, Y: lo}, Max: vg.Point{X: f.box.Max.X, Y: max(hi, lo+2)}}.Path())
	}
	if p.Mark > f.y.Min && p.Mark <= f.y.Max {
		c.StrokeLine2(guideStyle, f.box.Min.X, f.Y(p.Mark), f.box.Max.X, f.Y(p.Mark))
	}
	if len(p.Guide) > 1 {
		var line []vg.Point
		for _, pt := range p.Guide {
			line = append(line, vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Y, f.y))})
		}
		c.StrokeLines(guideStyle, line)
	}
	if p.Note != "" {
		sty := aligned(style(smallSize, softInk), text.XCenter, text.YCenter)
		y := (f.box.Min.Y + f.box.Max.Y) / 2
		for _, line := range wrap(p.Note, sty, (f.box.Max.X-f.box.Min.X)*0.8) {
			c.FillText(sty, vg.Point{X: (f.box.Min.X + f.box.Max.X) / 2, Y: y}, line)
			y -= lineHeight(sty)
		}
	}
	thin := f.x.Scale == Category
	for i := range p.Series {
		p.Series[i].drawInterval(c, f, thin)
	}
	for i := range p.Series {
		p.Series[i].drawLine(c, f, thin)
	}
}
