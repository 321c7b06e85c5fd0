package plots

import (
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

var tickStyle = style(smallSize, ink)

const tickLength = 5

// yTicks returns the ticks of the y axis, those without room for a label blank.
func (f frame) yTicks() []Tick {
	return thinned(f.y.ticks(), f.Y, func(Tick) vg.Length { return lineHeight(tickStyle) })
}

// yWidth is what the labels of the y axis need left of the box.
func (f frame) yWidth() vg.Length {
	var w vg.Length
	for _, t := range f.yTicks() {
		w = max(w, tickStyle.Width(t.Label))
	}
	return w + tickLength + 4
}

// drawY draws the y axis with its grid, and its name above it. With labels false
// the grid stands alone: the frame to the left has the labels.
func (f frame) drawY(c draw.Canvas, labels bool) {
	grid := draw.LineStyle{Color: gridLine, Width: 0.8}
	line := draw.LineStyle{Color: softInk, Width: 1}
	sty := aligned(tickStyle, text.XRight, text.YCenter)
	for _, t := range f.yTicks() {
		y := f.Y(t.Value)
		c.StrokeLine2(grid, f.box.Min.X, y, f.box.Max.X, y)
		if t.Label != "" && labels {
			c.StrokeLine2(line, f.box.Min.X-tickLength, y, f.box.Min.X, y)
			c.FillText(sty, vg.Point{X: f.box.Min.X - tickLength - 3, Y: y + sty.Font.Size*0.1}, t.Label)
		}
	}
	c.StrokeLine2(line, f.box.Min.X, f.box.Min.Y, f.box.Min.X, f.box.Max.Y)
}

// xLabels returns the ticks of the x axis, and their style: slanted where level
// labels of categories would collide.
func (f frame) xLabels() ([]Tick, text.Style) {
	sty := aligned(tickStyle, text.XCenter, text.YTop)
	ticks := f.x.ticks()
	extent := func(t Tick) vg.Length { return sty.Width(t.Label) + 8 }
	if f.x.Scale != Category || !crowded(ticks, f.X, extent) {
		return thinned(ticks, f.X, extent), sty
	}
	step := (f.box.Max.X - f.box.Min.X) / vg.Length(len(ticks))
	sty.Rotation = slant(sty.Font.Size, step)
	sty.XAlign = text.XRight
	if sty.Rotation == upright {
		sty.YAlign = text.YCenter
	}
	return thinned(ticks, f.X, func(Tick) vg.Length { return sty.Font.Size }), sty
}

// xHeight is what the labels of the x axis need below the box.
func (f frame) xHeight() vg.Length {
	ticks, sty := f.xLabels()
	h := lineHeight(sty)
	for _, t := range ticks {
		h = max(h, -sty.Rectangle(t.Label).Min.Y)
	}
	return h + tickLength + 4
}

// drawX draws the x axis; with labels false a lower frame has them.
func (f frame) drawX(c draw.Canvas, labels bool) {
	line := draw.LineStyle{Color: softInk, Width: 1}
	c.StrokeLine2(line, f.box.Min.X, f.box.Min.Y, f.box.Max.X, f.box.Min.Y)
	if !labels {
		return
	}
	ticks, sty := f.xLabels()
	for _, t := range ticks {
		x := f.X(t.Value)
		if f.x.Scale != Category {
			c.StrokeLine2(line, x, f.box.Min.Y, x, f.box.Min.Y-tickLength)
		}
		c.FillText(sty, vg.Point{X: x, Y: f.box.Min.Y - tickLength - 3}, t.Label)
	}
}

// drawXGrid draws a line up from each tick of the x axis.
func (f frame) drawXGrid(c draw.Canvas) {
	for _, t := range f.x.ticks() {
		c.StrokeLine2(draw.LineStyle{Color: gridLine, Width: 0.8}, f.X(t.Value), f.box.Min.Y, f.X(t.Value), f.box.Max.Y)
	}
}

// name writes the name of the y axis above the box, or another title there.
func (f frame) name(c draw.Canvas, x vg.Length, label string) {
	c.FillText(aligned(style(textSize, ink), text.XLeft, text.YBottom), vg.Point{X: x, Y: f.box.Max.Y + 7}, label)
}

// drawXName writes the name of the x axis under its labels, and lower by a distance.
func (f frame) drawXName(c draw.Canvas, lower vg.Length) {
	c.FillText(aligned(style(textSize, ink), text.XCenter, text.YTop),
		vg.Point{X: (f.box.Min.X + f.box.Max.X) / 2, Y: f.box.Min.Y - f.xHeight() - lower}, f.x.Label)
}

// slantedEnd is how far left the labels of the x axis reach.
func (f frame) slantedEnd() vg.Length {
	end := f.box.Min.X
	ticks, sty := f.xLabels()
	if sty.Rotation == 0 {
		return end
	}
	for _, t := range ticks {
		end = min(end, f.X(t.Value)+sty.Rectangle(t.Label).Min.X)
	}
	return end
}

// lastTick is where the ticks of the x axis end.
func (f frame) lastTick() vg.Length {
	last := f.box.Min.X
	for _, t := range f.x.ticks() {
		last = max(last, f.X(t.Value))
	}
	return last
}
