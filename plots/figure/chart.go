package figure

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is one pair of axes with curves, whose names stand at their right end where there is
// room for them.
type Chart struct {
	Heading
	X, Y    Axis
	Series  []Series // first one drawn first, that is lowest
	Roofs   []Roof
	Scatter bool // points stand for themselves: nothing lies between two
	Slopes  bool // roofs are min(Peak, x × Bandwidth), and no curve ends at the right
}

// A Roof is a limit of y. Zero means not known.
type Roof struct {
	Label           string // of the peak
	BandwidthLabel  string // along the slope
	Peak, Bandwidth float64
	Predicted       bool
	Other           bool // of a part of the device, below the others: thin, and without a slope
}

// Ridge returns the x from which on the peak is the lower of the two
// limits, and whether both are known.
func (r Roof) Ridge() (x float64, known bool) {
	if r.Peak <= 0 || r.Bandwidth <= 0 {
		return 0, false
	}
	return r.Peak / r.Bandwidth, true
}

func (ch *Chart) lay(c draw.Canvas, page vg.Rectangle, head vg.Length) (vg.Length, func()) {
	page.Max.Y -= head
	labels, st := ch.endLabels(), ch.strip()
	legend := newLegend(page, labels)
	below := st.height() + textLine + 4
	f := ch.frame(page, max(labels.width()+labelGap, st.labelWidth()), below)
	height := c.Max.Y - c.Min.Y
	// The labels stand at the ends of the curves, else in the legend.
	direct := labels.fit(f.box.Size().Y - (height - pageHeight))
	if !direct {
		f, height = ch.frame(page, st.labelWidth(), below+legend.height()), pageHeight+legend.height()
	}
	return height, func() {
		f.drawY(c, true)
		if ch.Scatter {
			f.drawXGrid(c)
		}
		f.drawX(c, true, st.height())
		ch.drawInside(c, f, direct, labels)
		st.draw(c, f)
		f.drawYName(c, page.Min.X, 8)
		if !direct {
			legend.draw(c, page)
		}
	}
}

// frame is the place of the axes on a page that keeps room to the right and below their labels.
func (ch *Chart) frame(page vg.Rectangle, right, below vg.Length) frame {
	f := frame{x: ch.X, y: ch.Y, box: page}
	f.box.Max.X -= right
	f.box.Min.Y += below
	f.box.Min.X += f.yWidth()
	f.box.Min.Y += f.xHeight()
	f.box.Min.X += max(0, page.Min.X-f.slantedEnd())
	return f
}

// drawInside draws what is inside the axes, bottom first: what helps the eye lies under
// the roofs, those under the bands, and no text on a curve.
func (ch *Chart) drawInside(c draw.Canvas, f frame, direct bool, labels *endLabels) {
	if direct {
		labels.drawLeaders(c, f)
	}
	for _, r := range ch.Roofs {
		ch.drawRoof(c, f, r)
	}
	drawAll(c, f, ch.Series, ch.thin())
	ch.drawLevels(c, f)
	ch.drawPointLabels(c, f)
	if direct {
		labels.draw(c, f)
	}
}

// thin reports whether nothing lies between two points.
func (ch *Chart) thin() bool { return ch.X.Scale == Category || ch.Scatter }

// style is a long-short dash for a measured or published limit, evenly
// dashed where it is predicted.
func (r Roof) style() draw.LineStyle {
	sty := draw.LineStyle{Color: SoftInk, Width: 1.6, Dashes: markStyle.Dashes}
	if r.Predicted {
		sty.Dashes = dashed
	}
	return sty
}

func (ch *Chart) drawRoof(c draw.Canvas, f frame, r Roof) {
	sty, from := r.style(), f.x.Min
	if ch.Slopes {
		sty.Width = 1.8
		if r.Other {
			sty.Width, sty.Color = 1, leader
		}
		if !r.Predicted {
			sty.Dashes = nil
		}
		if ridge, known := r.Ridge(); known {
			slope := r.lines(f)[0]
			from = ridge
			if !r.Other { // which has the slope of the others
				c.StrokeLine2(sty, slope[0].X, slope[0].Y, slope[1].X, slope[1].Y)
				c.StrokeLine2(draw.LineStyle{Color: SoftInk, Width: 1, Dashes: dotted}, slope[1].X, slope[1].Y, slope[1].X, f.box.Min.Y)
			}
		}
	}
	if r.Peak > 0 && r.Peak <= f.y.Max {
		c.StrokeLine2(sty, f.X(from), f.Y(r.Peak), f.box.Max.X, f.Y(r.Peak))
	}
}

// lines returns the roof as segments on the canvas: the slope first, if it has one.
func (r Roof) lines(f frame) []Segment {
	right := vg.Point{X: f.box.Max.X, Y: f.Y(r.Peak)}
	ridge, known := r.Ridge()
	if !known {
		return []Segment{{{X: f.box.Min.X, Y: right.Y}, right}}
	}
	start := max(f.x.Min, f.y.Min/r.Bandwidth)
	corner := vg.Point{X: f.X(ridge), Y: right.Y}
	return []Segment{{{X: f.X(start), Y: f.Y(start * r.Bandwidth)}, corner}, {corner, right}, {corner, {X: corner.X, Y: f.box.Min.Y}}}
}
