package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are one or more panels of bars, one above the other, over the same groups.
type Bars struct {
	Heading
	X      Axis        // of categories, one a group
	Series []BarSeries // side by side in each group, in this order
	Panels []BarPanel
	Alone  bool // each group has one bar and a name of its own
}

// A BarSeries is the look of bars.
type BarSeries struct {
	Label     string
	Color     color.NRGBA
	Predicted bool
	Level     bool // a line across the group instead of a bar: what the others are held against
}

// A BarPanel is a y axis and its bars.
type BarPanel struct {
	Y    Axis // of ratios it may be Log: bars then go up and down from 1
	Bars []Bar
	Mark float64 // a line right across, 0 for none
}

// A Bar is one value with its interval, or a word why there is none.
type Bar struct {
	Group, Series int
	Y, Lo, Hi     float64
	Label         string // at its end
	Status        string // of a bar without a value
	LowConfidence bool   // not to be relied on: no axis is made for it, and it is hollow
}

func (b *Bars) key() (k key) {
	for _, s := range each.That(b.Series, func(s BarSeries) bool { return s.Label != "" }) { // the axis names others
		e := keyEntry{s.Label, TextColor(s.Color), boxSign(s.Color, hollowIf(s.Predicted))}
		if s.Level {
			e.sign = lineSign(s.level())
		}
		k = append(k, e)
	}
	return k
}

func (s BarSeries) level() draw.LineStyle {
	sty := draw.LineStyle{Color: s.Color, Width: 2.2}
	if s.Predicted {
		sty.Dashes = dashed
	}
	return sty
}

// Add adds the panel, if it has bars. The axis reaches above every bar and its label, and of ratios
// as far down; bars of low confidence may be cut off at its end. A mark far above all is not drawn.
func (b *Bars) Add(p BarPanel) {
	if len(p.Bars) == 0 {
		return
	}
	var ends, down Extent
	for _, bar := range p.Bars {
		ends.Add(bar.Y, bar.Hi, bar.LowConfidence)
		down.Add(1/bar.Y, 1/bar.Lo, bar.LowConfidence)
	}
	p.Y.Max = ends.Top(p.Mark) * 1.22
	if p.Y.Scale == Log {
		p.Y.Max = max(2.2, p.Y.Max*1.25)
		p.Y.Min = 1 / max(1.2, down.Top()*1.5)
		step := math.Exp2(math.Ceil(math.Log2(p.Y.Max/p.Y.Min) / 7))
		for v := math.Pow(step, math.Ceil(math.Log(p.Y.Min)/math.Log(step))); v <= p.Y.Max; v *= step {
			p.Y.Ticks = append(p.Y.Ticks, Tick{Value: v, Label: Digits(v)})
		}
	}
	b.Panels = append(b.Panels, p)
}

// An Extent is how high values reach, those of low confidence apart.
type Extent struct{ confident, lowConfidence float64 }

// Add adds a value and the end of its interval.
func (e *Extent) Add(v, hi float64, lowConfidence bool) {
	if lowConfidence {
		e.lowConfidence = max(e.lowConfidence, v)
	} else {
		e.confident = max(e.confident, v, hi)
	}
}

// Top is the highest of the values and of the limits in view. Values of low confidence count
// only if there is no other. A limit far above would press all values to the floor.
func (e Extent) Top(limits ...float64) float64 {
	const inView = 3
	top := cmp.Or(e.confident, e.lowConfidence)
	return max(top, each.Most(limits, func(l float64) float64 {
		if top > 0 && l > inView*top {
			return 0
		}
		return l
	}))
}

func (b *Bars) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	top := page.Max.Y - head
	var frames []frame
	var left vg.Length
	for _, p := range b.Panels {
		f := frame{x: b.X, y: p.Y, box: box(0, top-panelHeight, page.Max.X, top)}
		left = max(left, f.yWidth())
		frames = append(frames, f)
		top -= panelHeight + textLine + 18
	}
	for i := range frames {
		frames[i].box.Min.X = page.Min.X + left
	}
	last := len(frames) - 1
	return frames[last].height(c), func() {
		for i, f := range frames {
			f.drawY(c, true)
			f.drawYName(c, page.Min.X, 7)
			b.drawPanel(c, f, b.Panels[i])
			f.drawX(c, i == last, 0)
		}
	}
}

func (b *Bars) drawPanel(c draw.Canvas, f frame, p BarPanel) {
	if p.Mark > 0 && p.Mark <= f.y.Max {
		c.StrokeLine2(markStyle, f.box.Min.X, f.Y(p.Mark), f.box.Max.X, f.Y(p.Mark))
	}
	place, width, slots := b.places()
	step := f.X(1) - f.X(0)
	wide := step * vg.Length(width)
	group, base := wide*vg.Length(slots)/2, f.box.Min.Y
	if f.y.Scale == Log {
		base = f.Y(1)
	}
	if b.Alone {
		group = step / 2 // a line right across
	}
	room := each.Most(p.Bars, func(bar Bar) vg.Length { return tickStyle.Width(bar.Label) })+2 <= wide
	var written []func()
	for _, bar := range p.Bars {
		s := b.Series[bar.Series]
		centre := f.X(float64(bar.Group))
		if s.Level {
			if bar.Status == "" {
				y := f.Y(min(bar.Y, f.y.Max))
				c.StrokeLine2(s.level(), centre-group, y, centre+group, y)
			}
			continue // the last series: its line lies over the bars
		}
		x := centre + step*vg.Length(place[bar.Series])
		sty := style(smallSize, TextColor(s.Color), text.XCenter, text.YBottom)
		if !room || bar.Status != "" {
			sty.Rotation, sty.XAlign, sty.YAlign = upright, text.XLeft, text.YCenter
		}
		if bar.Status != "" {
			at := vg.Point{X: x, Y: f.box.Min.Y + 6}
			drawCross(c, at, s.Color)
			if wide > sty.Font.Size {
				write(c, sty, x, at.Y+9, bar.Status)
			}
			continue
		}
		end := f.Y(f.y.clamp(bar.Y))
		hollowIf(s.Predicted || bar.LowConfidence).draw(c, box(x-wide*0.43, min(base, end), x+wide*0.43, max(base, end)), s.Color)
		low, high := end, end
		if bar.Hi > bar.Lo {
			low, high = f.Y(f.y.clamp(bar.Lo)), f.Y(f.y.clamp(bar.Hi))
			c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 1}, x, low, x, high)
		}
		if !room && sty.Font.Size > wide {
			continue
		}
		label := sty.Rectangle(bar.Label)
		at := vg.Point{X: x, Y: b.above(f, p, bar.Group, max(end, high)+2, label)}
		if end < base { // it goes down
			at.Y = max(f.box.Min.Y+1, min(end, low)-4-(label.Max.Y-label.Min.Y))
		}
		written = append(written, func() { // over the lines of levels, not over the bar
			fill(c, box(label.Min.X+at.X, max(label.Min.Y+at.Y, at.Y-1), label.Max.X+at.X, label.Max.Y+at.Y), White)
			c.FillText(sty, at, bar.Label)
		})
	}
	for _, write := range written {
		write()
	}
}

// above lifts the label of a group's bar from y over the lines of the mark and of
// levels where it would cut them, if there is room.
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

// places returns where in a group, in shares of its step from the middle, each series has its bar,
// how wide a bar is, and how many there are. Where no group has two bars, each has the middle.
func (b *Bars) places() (place map[int]float64, width float64, n int) {
	place = map[int]float64{}
	if b.Alone {
		return place, 0.5, 1
	}
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
