package figure

import (
	"math"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A frame is the place of a pair of axes on a canvas. Where several frames share
// a page their boxes are set by the page, so that they line up.
type frame struct {
	box  vg.Rectangle // of the data
	x, y Axis
}

// X returns the place of v on the x axis.
func (f frame) X(v float64) vg.Length {
	return f.box.Min.X + vg.Length(f.x.along(v))*(f.box.Max.X-f.box.Min.X)
}

// Y returns the place of v on the y axis.
func (f frame) Y(v float64) vg.Length {
	return f.box.Min.Y + vg.Length(f.y.along(v))*(f.box.Max.Y-f.box.Min.Y)
}

// at is the place of a point, on the edge of the box if it lies above or below.
func (f frame) at(x, y float64) vg.Point { return vg.Point{X: f.X(x), Y: f.Y(f.y.clamp(y))} }

const (
	tickLength = 5
	upright    = math.Pi / 2
)

var (
	axisStyle = draw.LineStyle{Color: SoftInk, Width: 1}
	gridStyle = draw.LineStyle{Color: gridLine, Width: 0.8}
)

// yTicks returns the ticks of the y axis, those without room for a label blank.
func (f frame) yTicks() []Tick {
	return thinned(f.y.ticks(), f.Y, func(Tick) vg.Length { return lineHeight(tickStyle) })
}

// yWidth is what the labels of the y axis need left of the box.
func (f frame) yWidth() vg.Length {
	return each.Most(f.yTicks(), func(t Tick) vg.Length { return tickStyle.Width(t.Label) }) + tickLength + 4
}

// drawY draws the y axis with its grid. With labels false
// the grid stands alone: the frame to the left has the labels.
func (f frame) drawY(c draw.Canvas, labels bool) {
	for _, t := range f.yTicks() {
		y := f.Y(t.Value)
		c.StrokeLine2(gridStyle, f.box.Min.X, y, f.box.Max.X, y)
		if t.Label != "" && labels {
			c.StrokeLine2(axisStyle, f.box.Min.X-tickLength, y, f.box.Min.X, y)
			beside(c, style(smallSize, Ink, text.XRight, text.YCenter), f.box.Min.X-tickLength-3, y, t.Label)
		}
	}
	c.StrokeLine2(axisStyle, f.box.Min.X, f.box.Min.Y, f.box.Min.X, f.box.Max.Y)
}

// xLabels returns the ticks of the x axis, and their style: slanted where level
// labels of categories would collide.
func (f frame) xLabels() ([]Tick, text.Style) {
	sty, ticks := tickStyle, f.x.ticks()
	extent := func(t Tick) vg.Length { return sty.Width(t.Label) + 8 }
	if f.x.Scale != Category || !crowded(ticks, f.X, extent) {
		return thinned(ticks, f.X, extent), sty
	}
	step := (f.box.Max.X - f.box.Min.X) / vg.Length(len(ticks))
	sty.Rotation, sty.XAlign, sty.YAlign = upright, text.XRight, text.YCenter
	for _, angle := range []float64{math.Pi / 3, math.Pi / 4, math.Pi / 6} { // the least at which labels do not touch
		if float64(step)*math.Sin(angle) >= 1.2*float64(sty.Font.Size) {
			sty.Rotation, sty.YAlign = angle, text.YTop
		}
	}
	return thinned(ticks, f.X, func(Tick) vg.Length { return sty.Font.Size }), sty
}

// xHeight is what the labels of the x axis need below the box.
func (f frame) xHeight() vg.Length {
	ticks, sty := f.xLabels()
	lowest := each.Most(ticks, func(t Tick) vg.Length { return -sty.Rectangle(t.Label).Min.Y })
	return max(lineHeight(sty), lowest) + tickLength + 4
}

// height is that of a page which the box, with its x axis and the axis' name, ends.
func (f frame) height(c draw.Canvas) vg.Length {
	return c.Max.Y - f.box.Min.Y + f.xHeight() + textLine + margin
}

// drawX draws the x axis with its name; with labels false a lower frame has them.
func (f frame) drawX(c draw.Canvas, labels bool, lower vg.Length) {
	c.StrokeLine2(axisStyle, f.box.Min.X, f.box.Min.Y, f.box.Max.X, f.box.Min.Y)
	if !labels {
		return
	}
	ticks, sty := f.xLabels()
	for _, t := range ticks {
		x := f.X(t.Value)
		if f.x.Scale != Category {
			c.StrokeLine2(axisStyle, x, f.box.Min.Y, x, f.box.Min.Y-tickLength)
		}
		write(c, sty, x, f.box.Min.Y-tickLength-3, t.Label)
	}
	write(c, style(textSize, Ink, text.XCenter, text.YTop), (f.box.Min.X+f.box.Max.X)/2, f.box.Min.Y-f.xHeight()-lower, f.x.Label)
}

// drawXGrid draws a line up from each tick of the x axis.
func (f frame) drawXGrid(c draw.Canvas) {
	for _, t := range f.x.ticks() {
		c.StrokeLine2(gridStyle, f.X(t.Value), f.box.Min.Y, f.X(t.Value), f.box.Max.Y)
	}
}

// drawYName writes the name of the y axis a distance above the box.
func (f frame) drawYName(c draw.Canvas, x, above vg.Length) {
	write(c, style(textSize, Ink, text.XLeft, text.YBottom), x, f.box.Max.Y+above, f.y.Label)
}

// slantedEnd is how far left the labels of the x axis reach.
func (f frame) slantedEnd() vg.Length {
	end := f.box.Min.X
	if ticks, sty := f.xLabels(); sty.Rotation != 0 {
		for _, t := range ticks {
			end = min(end, f.X(t.Value)+sty.Rectangle(t.Label).Min.X)
		}
	}
	return end
}

// lastTick is where the ticks of the x axis end.
func (f frame) lastTick() vg.Length {
	return each.Most(f.x.ticks(), func(t Tick) vg.Length { return f.X(t.Value) })
}

// around is the box with its middle at a point and half a width and height.
func around(at vg.Point, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - w, Y: at.Y - h}, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
}

func box(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
}

func grown(r vg.Rectangle, by vg.Length) vg.Rectangle {
	return box(r.Min.X-by, r.Min.Y-by, r.Max.X+by, r.Max.Y+by)
}

func middle(b vg.Rectangle) vg.Point {
	return vg.Point{X: (b.Min.X + b.Max.X) / 2, Y: (b.Min.Y + b.Max.Y) / 2}
}

// Inside reports whether b lies in the bounds.
func Inside(b, bounds vg.Rectangle) bool {
	return b.Min.X >= bounds.Min.X && b.Max.X <= bounds.Max.X && b.Min.Y >= bounds.Min.Y && b.Max.Y <= bounds.Max.Y
}

// Meets reports whether two boxes share an area.
func Meets(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// A Segment is a straight piece of a line.
type Segment [2]vg.Point

// Crosses reports whether the segment touches b: it cuts the segment to the
// part inside each side in turn (Liang and Barsky, 1984).
func (l Segment) Crosses(b vg.Rectangle) bool {
	from, to := 0.0, 1.0
	dx, dy := float64(l[1].X-l[0].X), float64(l[1].Y-l[0].Y)
	for _, side := range [...][2]float64{
		{-dx, float64(l[0].X - b.Min.X)}, {dx, float64(b.Max.X - l[0].X)},
		{-dy, float64(l[0].Y - b.Min.Y)}, {dy, float64(b.Max.Y - l[0].Y)},
	} {
		switch {
		case side[0] == 0:
			if side[1] < 0 {
				return false
			}
		case side[0] < 0:
			from = max(from, side[1]/side[0])
		default:
			to = min(to, side[1]/side[0])
		}
	}
	return from <= to
}
