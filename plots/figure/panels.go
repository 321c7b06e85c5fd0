package figure

import (
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
}

const (
	panelHeight = 170 * vg.Length(1)
	panelGap    = 22 * vg.Length(1)
	titleIndent = 3 * vg.Length(1)
)

// markStyle is the look of lines that values are compared with.
var markStyle = draw.LineStyle{Color: SoftInk, Width: 1.3, Dashes: []vg.Length{12, 3, 2, 3}}

// Add adds a series with its points in order; one without any is left out.
func (p *Panel) Add(s Series) {
	if s.Sort(); len(s.Points) > 0 {
		p.Series = append(p.Series, s)
	}
}

func (p *Panels) key() key {
	var lines, behind key
	named := map[string]bool{}
	for _, panel := range slices.Concat(p.Rows...) {
		for _, s := range panel.Series {
			if !named[s.Label] {
				named[s.Label] = true
				lines = append(lines, s.entry())
			}
		}
		if panel.Band[1] > 0 && behind == nil {
			behind = key{{panel.Words, SoftInk, boxSign(gridLine, Solid)}}
		}
	}
	return append(lines, behind...)
}

// titleStyle is that of the titles of panels of a width: smaller if one needs it.
func (p *Panels) titleStyle(width vg.Length) text.Style {
	sty := bold(style(textSize, Ink, text.XLeft, text.YBottom))
	for _, panel := range slices.Concat(p.Rows...) {
		for sty.Width(panel.Title) > width-titleIndent && sty.Font.Size > smallSize {
			sty.Font.Size -= 0.5
		}
	}
	return sty
}

func (p *Panels) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	height := panelHeight * 1.15
	if len(p.Rows) == 1 {
		height = 280
	}
	var left, deepest vg.Length
	frames := make([][]frame, len(p.Rows))
	for i, row := range p.Rows {
		for _, panel := range row {
			f := frame{x: panel.X, y: panel.Y, box: box(0, 0, 0, height)}
			left = max(left, f.yWidth())
			frames[i] = append(frames[i], f)
		}
	}
	top := page.Max.Y - head
	n := vg.Length(len(p.Rows[0]))
	width := (page.Max.X - page.Min.X - left - panelGap*(n-1)) / n
	lowest := frames[0][0]
	for i := range frames {
		deepest = 0
		for j := range frames[i] {
			f := &frames[i][j]
			f.box.Min.X = page.Min.X + left + vg.Length(j)*(width+panelGap)
			f.box.Max = vg.Point{X: f.box.Min.X + width, Y: top - textLine - 4}
			f.box.Min.Y = f.box.Max.Y - height
			if h := f.xHeight(); h > deepest {
				deepest, lowest = h, *f
			}
		}
		top -= height + deepest + textLine*2 + 22
	}
	return lowest.height(c), func() {
		title := p.titleStyle(frames[0][0].box.Size().X)
		for i, row := range frames {
			for j, f := range row {
				f.drawY(c, j == 0)
				if j == 0 {
					f.drawYName(c, page.Min.X, textLine+5)
				}
				write(c, title, f.box.Min.X+titleIndent, f.box.Max.Y+3, p.Rows[i][j].Title)
				p.Rows[i][j].draw(c, f)
				f.drawX(c, true, 0)
			}
		}
	}
}

func (p *Panel) draw(c draw.Canvas, f frame) {
	if p.Band[1] > 0 {
		lo, hi := f.Y(max(p.Band[0], f.y.Min)), f.Y(min(p.Band[1], f.y.Max))
		fill(c, box(f.box.Min.X+1, lo, f.box.Max.X, max(hi, lo+2)), gridLine)
	}
	if p.Mark > f.y.Min && p.Mark <= f.y.Max {
		c.StrokeLine2(markStyle, f.box.Min.X, f.Y(p.Mark), f.box.Max.X, f.Y(p.Mark))
	}
	sty, at := style(smallSize, SoftInk, text.XCenter, text.YCenter), middle(f.box)
	for _, line := range wrap(p.Note, sty, (f.box.Max.X-f.box.Min.X)*0.8) {
		write(c, sty, at.X, at.Y, line)
		at.Y -= lineHeight(sty)
	}
	drawAll(c, f, p.Series, f.x.Scale == Category)
}
