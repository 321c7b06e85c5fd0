package plots

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// layer makes a function a plot.Plotter.
type layer func(draw.Canvas, *plot.Plot)

func (l layer) Plot(c draw.Canvas, p *plot.Plot) { l(c, p) }

// addLayers adds what is drawn inside the axes, bottom first: what helps the
// eye lies under the roofs, those under the bands, and no text on a curve.
func (ch *Chart) addLayers(p *plot.Plot, direct bool, labels *endLabels) {
	p.Add(layer(ch.drawGrid))
	if direct {
		p.Add(layer(labels.drawLeaders))
	}
	p.Add(layer(ch.drawRoofs))
	for i := range ch.Series {
		p.Add(layer(func(c draw.Canvas, p *plot.Plot) { ch.Series[i].drawInterval(c, p, ch.thin()) }))
	}
	for i := range ch.Series {
		p.Add(layer(func(c draw.Canvas, p *plot.Plot) { ch.Series[i].drawLine(c, p, ch.thin()) }))
	}
	p.Add(layer(ch.drawArrows))
	p.Add(layer(ch.drawPointLabels))
	if direct {
		p.Add(layer(labels.draw))
	}
}

// thin reports whether the line between points is only there to guide the
// eye: nothing lies between two categories, nor between two points of a
// roofline.
func (ch *Chart) thin() bool { return ch.X.Scale == Category || ch.scatter() }

func (ch *Chart) drawGrid(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sty := draw.LineStyle{Color: gridLine, Width: 0.8}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Value > p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(sty, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	if !ch.scatter() {
		return
	}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if t.Value > p.X.Min && t.Value <= p.X.Max {
			c.StrokeLine2(sty, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
}

// roofStyle is a long-short dash for a measured or published limit, evenly
// dashed where the device is only predicted for.
func roofStyle(r Roof) draw.LineStyle {
	sty := draw.LineStyle{Color: softInk, Width: 1.6, Dashes: []vg.Length{12, 3, 2, 3}}
	if r.Predicted {
		sty.Dashes = []vg.Length{5, 4}
	}
	return sty
}

func (ch *Chart) drawRoofs(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, r := range ch.Roofs {
		sty := roofStyle(r)
		from := p.X.Min
		if ch.Kind == Roofline {
			sty.Dashes, sty.Width = nil, 1.8
			if r.Other {
				sty.Width, sty.Color = 1, leader
			}
			if r.Predicted {
				sty.Dashes = []vg.Length{5, 4}
			}
			ridge, known := r.Ridge()
			if known {
				start := max(p.X.Min, p.Y.Min/r.Bandwidth)
				c.StrokeLine2(sty, x(start), y(start*r.Bandwidth), x(ridge), y(r.Peak))
				from = ridge
				if r.Other {
					c.StrokeLine2(sty, x(ridge), y(r.Peak), c.Max.X, y(r.Peak))
					continue
				}
				down := draw.LineStyle{Color: softInk, Width: 1, Dashes: []vg.Length{1.5, 3}}
				c.StrokeLine2(down, x(ridge), y(r.Peak), x(ridge), c.Min.Y)
			}
		}
		if r.Peak > 0 && r.Peak <= p.Y.Max {
			c.StrokeLine2(sty, x(from), y(r.Peak), c.Max.X, y(r.Peak))
		}
	}
}

// color is the series' place in its kernel's ramp.
func (s *Series) color() color.NRGBA { return shaded(kernelColor(s.Kernel), s.Shade) }

// drawInterval fills the interval round the line, or draws it as a bar at each
// point where nothing lies between points.
func (s *Series) drawInterval(c draw.Canvas, p *plot.Plot, thin bool) {
	x, y := p.Transforms(&c)
	fill := s.color()
	fill.A = 0x33
	bar := draw.LineStyle{Color: s.color(), Width: 1.5}
	for _, points := range s.stretches() {
		if len(points) == 1 || thin {
			for _, pt := range points {
				if pt.Hi > pt.Lo {
					c.StrokeLine2(bar, x(pt.X), y(within(pt.Lo, p)), x(pt.X), y(within(pt.Hi, p)))
				}
			}
			continue
		}
		var upper, lower []vg.Point
		for _, pt := range points {
			upper = append(upper, vg.Point{X: x(pt.X), Y: y(within(pt.Hi, p))})
			lower = append(lower, vg.Point{X: x(pt.X), Y: y(within(pt.Lo, p))})
		}
		slices.Reverse(lower)
		c.FillPolygon(fill, append(upper, lower...))
	}
}

// within is v, or the end of the y axis beyond which it lies.
func within(v float64, p *plot.Plot) float64 { return max(p.Y.Min, min(p.Y.Max, v)) }

func (s *Series) lineStyle(thin bool) draw.LineStyle {
	sty := draw.LineStyle{Color: s.color(), Width: 2}
	if s.Bold {
		sty.Width = 3.2
	}
	if thin {
		sty.Width = 0.8
	}
	if s.Predicted {
		sty.Dashes = []vg.Length{5, 4}
	}
	return sty
}

func (s *Series) drawLine(c draw.Canvas, p *plot.Plot, thin bool) {
	x, y := p.Transforms(&c)
	for _, points := range s.stretches() {
		var line []vg.Point
		for _, pt := range points {
			line = append(line, vg.Point{X: x(pt.X), Y: y(within(pt.Y, p))})
		}
		if len(line) > 1 {
			c.StrokeLines(s.lineStyle(thin), line)
		}
	}
	for _, pt := range s.Points {
		s.drawPoint(&c, vg.Point{X: x(pt.X), Y: y(within(pt.Y, p))}, pt.Rough)
	}
}

// drawMarker draws the series' own marker. Predicted ones are hollow.
func (s *Series) drawMarker(c *draw.Canvas, at vg.Point) { s.drawPoint(c, at, false) }

// drawPoint draws a marker with a white rim, so that markers on top of each other
// stay apart. It is hollow if the point is rough.
func (s *Series) drawPoint(c *draw.Canvas, at vg.Point, rough bool) {
	const radius = 4
	m := markers[s.Shape%len(markers)]
	rim := m.path(at, radius+1.2)
	c.SetColor(white)
	c.Fill(rim)
	c.SetColor(s.color())
	c.Fill(m.path(at, radius))
	if s.Predicted || rough {
		c.SetColor(white)
		c.Fill(m.path(at, radius-1.6))
	}
}
