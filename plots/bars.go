package plots

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Bars are one or more panels of bars, one above the other, over the same groups.
type Bars struct {
	Heading
	X      Axis        // of categories, one a group
	Series []BarSeries // side by side in each group, in this order
	Panels []BarPanel
}

// A BarSeries is the look of the bars of one kernel.
type BarSeries struct {
	Label     string
	Kernel    string
	Shade     float64
	Predicted bool
	Level     bool // a line across the group instead of a bar: what the others are held against
}

// A BarPanel is a y axis and its bars.
type BarPanel struct {
	Y    Axis
	Bars []Bar
	Mark float64 // a line right across, 0 for none
}

// A Bar is one value with its interval, or a word why there is none.
type Bar struct {
	Group, Series int
	Y, Lo, Hi     float64
	Label         string // at its end
	Status        string // of a bar without a value
	Rough         bool   // not to be relied on: no axis is made for it, and it is hollow
}

const panelHeight = 170 * vg.Length(1)

func (s BarSeries) color() color.NRGBA { return shaded(kernelColor(s.Kernel), s.Shade) }

func (b *Bars) key() key {
	var k key
	for _, s := range b.Series {
		e := keyEntry{s.Label, textColor(s.color()), boxSign(s.color(), s.Predicted)}
		if s.Level {
			e.sign = lineSign(levelStyle(s))
		}
		k = append(k, e)
	}
	return k
}

func levelStyle(s BarSeries) draw.LineStyle {
	sty := draw.LineStyle{Color: s.color(), Width: 2.2}
	if s.Predicted {
		sty.Dashes = []vg.Length{5, 4}
	}
	return sty
}

// frames divides page, under the heading, into a frame for each panel.
func (b *Bars) frames(page vg.Rectangle, head vg.Length) []frame {
	top := page.Max.Y - head
	var frames []frame
	var left vg.Length
	for _, p := range b.Panels {
		f := frame{x: b.X, y: p.Y, box: vg.Rectangle{Max: vg.Point{Y: panelHeight}}}
		left = max(left, f.yWidth())
		frames = append(frames, f)
	}
	for i := range frames {
		frames[i].box = vg.Rectangle{
			Min: vg.Point{X: page.Min.X + left, Y: top - panelHeight},
			Max: vg.Point{X: page.Max.X, Y: top},
		}
		top -= panelHeight + lineHeight(style(textSize, ink)) + 18
	}
	return frames
}

// head draws the heading and the key, and returns the height they took.
func (b *Bars) head(c draw.Canvas, page vg.Rectangle) vg.Length {
	return headAndKey(&b.Heading, b.key(), c, page)
}

// Size returns the size of the page.
func (b *Bars) Size() (width, height vg.Length) {
	ruler := draw.NewCanvas(new(recorder.Canvas), pageWidth, pageHeight)
	page := inset(ruler.Rectangle)
	frames := b.frames(page, b.head(ruler, page))
	last := frames[len(frames)-1]
	below := last.xHeight() + lineHeight(style(textSize, ink)) + margin
	return pageWidth, pageHeight - last.box.Min.Y + below
}

func inset(r vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{Min: r.Min.Add(vg.Point{X: margin, Y: margin}), Max: r.Max.Sub(vg.Point{X: margin, Y: margin})}
}

// Draw draws the bars on canvas.
func (b *Bars) Draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	page := inset(c.Rectangle)
	frames := b.frames(page, b.head(c, page))
	for i, f := range frames {
		last := i == len(frames)-1
		f.drawY(c, true)
		f.name(c, page.Min.X, f.y.Label)
		b.drawPanel(c, f, b.Panels[i])
		f.drawX(c, last)
		if last {
			f.drawXName(c, 0)
		}
	}
}

func (b *Bars) drawPanel(c draw.Canvas, f frame, p BarPanel) {
	if p.Mark > 0 && p.Mark <= f.y.Max {
		c.StrokeLine2(draw.LineStyle{Color: softInk, Width: 1.2, Dashes: []vg.Length{12, 3, 2, 3}}, f.box.Min.X, f.Y(p.Mark), f.box.Max.X, f.Y(p.Mark))
	}
	place, width, slots := b.places()
	step := f.X(1) - f.X(0)
	wide := step * vg.Length(width)
	group := wide * vg.Length(slots) / 2
	labels := b.labelTurn(p, wide)
	var written []func()
	for _, bar := range p.Bars {
		s := b.Series[bar.Series]
		centre := f.X(float64(bar.Group))
		if s.Level {
			if bar.Status == "" {
				y := f.Y(min(bar.Y, f.y.Max))
				c.StrokeLine2(levelStyle(s), centre-group-2, y, centre+group+2, y)
			}
			continue // the last series: its line lies over the bars
		}
		x := centre + step*vg.Length(place[bar.Series])
		sty := aligned(style(smallSize, textColor(s.color())), text.XCenter, text.YBottom)
		if bar.Status != "" {
			at := vg.Point{X: x, Y: f.box.Min.Y + 6}
			drawCross(c, at, s.color())
			if wide > sty.Font.Size {
				sty.Rotation, sty.XAlign, sty.YAlign = upright, text.XLeft, text.YCenter
				c.FillText(sty, vg.Point{X: x, Y: at.Y + 9}, bar.Status)
			}
			continue
		}
		top := f.Y(min(bar.Y, f.y.Max))
		fillBox(c, vg.Rectangle{Min: vg.Point{X: x - wide*0.43, Y: f.box.Min.Y}, Max: vg.Point{X: x + wide*0.43, Y: top}}, s.color(), s.Predicted || bar.Rough)
		end := top
		if bar.Hi > bar.Lo {
			end = f.Y(min(bar.Hi, f.y.Max))
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, x, f.Y(max(bar.Lo, f.y.Min)), x, end)
		}
		at := vg.Point{X: x, Y: max(top, end) + 2}
		switch labels {
		case upright:
			sty.Rotation, sty.XAlign, sty.YAlign = upright, text.XLeft, text.YCenter
			fallthrough
		case 0:
			at.Y = b.above(f, p, bar.Group, at.Y, sty.Rectangle(bar.Label))
			written = append(written, func() {
				c.SetColor(white) // over the line of the baseline, not over the bar
				box := moved(sty.Rectangle(bar.Label), at)
				box.Min.Y = max(box.Min.Y, at.Y-1)
				c.Fill(box.Path())
				c.FillText(sty, at, bar.Label)
			})
		}
	}
	for _, write := range written {
		write()
	}
}

// above lifts the label of a group's bar from y over the lines of the mark and the
// baseline where it would cut them, if there is room.
func (b *Bars) above(f frame, p BarPanel, group int, y vg.Length, label vg.Rectangle) vg.Length {
	height := label.Max.Y - label.Min.Y
	var lines []float64
	if p.Mark > 0 && p.Mark <= f.y.Max {
		lines = append(lines, p.Mark)
	}
	for _, bar := range p.Bars {
		if b.Series[bar.Series].Level && bar.Group == group && bar.Status == "" {
			lines = append(lines, bar.Y)
		}
	}
	slices.Sort(lines) // lifted over one it may cut the next
	for _, at := range lines {
		if line := f.Y(at); line > y-3 && line < y+height+2 && line+4+height <= f.box.Max.Y {
			y = line + 4
		}
	}
	return y
}

func moved(r vg.Rectangle, by vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: r.Min.Add(by), Max: r.Max.Add(by)}
}

// places returns where in a group, in shares of its step from the middle, each
// series has its bar, how wide a bar is, and how many there are.
func (b *Bars) places() (place map[int]float64, width float64, n int) {
	place = map[int]float64{}
	for i, s := range b.Series {
		if !s.Level {
			place[i] = float64(n)
			n++
		}
	}
	width = math.Min(0.86/float64(max(n, 1)), 0.16)
	for i := range place {
		place[i] = (place[i] - float64(n-1)/2) * width
	}
	return place, width, n
}

// labelTurn returns how the labels at the ends of bars stand: level, upright, or
// NaN where there is no room for them.
func (b *Bars) labelTurn(p BarPanel, wide vg.Length) float64 {
	sty := style(smallSize, ink)
	widest := vg.Length(0)
	for _, bar := range p.Bars {
		widest = max(widest, sty.Width(bar.Label))
	}
	switch {
	case widest+2 <= wide:
		return 0
	case sty.Font.Size <= wide:
		return upright
	}
	return math.NaN()
}
