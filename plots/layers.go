package plots

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawLayers draws what is inside the axes, bottom first: what helps the eye lies under
// the roofs, those under the bands, and no text on a curve.
func (ch *Chart) drawLayers(c draw.Canvas, f frame, direct bool, labels *endLabels) {
	if direct {
		labels.drawLeaders(c, f)
	}
	ch.drawRoofs(c, f)
	for i := range ch.Series {
		ch.Series[i].drawInterval(c, f, ch.thin())
	}
	for i := range ch.Series {
		ch.Series[i].drawLine(c, f, ch.thin())
	}
	ch.drawLevels(c, f)
	ch.drawArrows(c, f)
	ch.drawPointLabels(c, f)
	if direct {
		labels.draw(c, f)
	}
}

// thin reports whether the line between points is only there to guide the
// eye: nothing lies between two categories, nor between two points of a
// roofline.
func (ch *Chart) thin() bool { return ch.X.Scale == Category || ch.scatter() }

// roofStyle is a long-short dash for a measured or published limit, evenly
// dashed where the device is only predicted for.
func roofStyle(r Roof) draw.LineStyle {
	sty := draw.LineStyle{Color: softInk, Width: 1.6, Dashes: []vg.Length{12, 3, 2, 3}}
	if r.Predicted {
		sty.Dashes = []vg.Length{5, 4}
	}
	return sty
}

func (ch *Chart) drawRoofs(c draw.Canvas, f frame) {
	for _, r := range ch.Roofs {
		sty := roofStyle(r)
		from := f.x.Min
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
				start := max(f.x.Min, f.y.Min/r.Bandwidth)
				c.StrokeLine2(sty, f.X(start), f.Y(start*r.Bandwidth), f.X(ridge), f.Y(r.Peak))
				from = ridge
				if r.Other {
					c.StrokeLine2(sty, f.X(ridge), f.Y(r.Peak), f.box.Max.X, f.Y(r.Peak))
					continue
				}
				down := draw.LineStyle{Color: softInk, Width: 1, Dashes: []vg.Length{1.5, 3}}
				c.StrokeLine2(down, f.X(ridge), f.Y(r.Peak), f.X(ridge), f.box.Min.Y)
			}
		}
		if r.Peak > 0 && r.Peak <= f.y.Max {
			c.StrokeLine2(sty, f.X(from), f.Y(r.Peak), f.box.Max.X, f.Y(r.Peak))
		}
	}
}

// color is the series' place in its kernel's ramp, or in that of its hue.
func (s *Series) color() color.NRGBA {
	if s.Hue > 0 {
		return shaded(hueColor[int(s.Hue-1)%len(hueColor)], s.Shade)
	}
	return shaded(kernelColor(s.Kernel), s.Shade)
}

// drawInterval fills the interval round the line, or draws it as a bar at each
// point where nothing lies between points.
func (s *Series) drawInterval(c draw.Canvas, f frame, thin bool) {
	fill := s.color()
	fill.A = 0x33
	bar := draw.LineStyle{Color: s.color(), Width: 1.5}
	for _, points := range s.stretches() {
		if len(points) == 1 || thin {
			for _, pt := range points {
				if pt.Hi > pt.Lo {
					c.StrokeLine2(bar, f.X(pt.X), f.Y(clamp(pt.Lo, f.y)), f.X(pt.X), f.Y(clamp(pt.Hi, f.y)))
				}
			}
			continue
		}
		var upper, lower []vg.Point
		for _, pt := range points {
			upper = append(upper, vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Hi, f.y))})
			lower = append(lower, vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Lo, f.y))})
		}
		slices.Reverse(lower)
		c.FillPolygon(fill, append(upper, lower...))
	}
}

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

func (s *Series) drawLine(c draw.Canvas, f frame, thin bool) {
	for _, points := range s.stretches() {
		var line []vg.Point
		for _, pt := range points {
			line = append(line, vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Y, f.y))})
		}
		if len(line) > 1 {
			c.StrokeLines(s.lineStyle(thin), line)
		}
	}
	for _, pt := range s.Points {
		s.drawPoint(&c, vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Y, f.y))}, pt.Rough)
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
