package figure

import (
	"math"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// levels calls do for each level within the axis.
func (ch *Chart) levels(f frame, do func(s *Series, at, mark vg.Point, name string)) {
	for i := range ch.Series {
		for _, pt := range ch.Series[i].Points {
			for _, l := range pt.Levels {
				if at := f.at(pt.X, pt.Y); l.X >= f.x.Min && l.X <= f.x.Max {
					do(&ch.Series[i], at, vg.Point{X: f.X(l.X), Y: at.Y}, l.Name)
				}
			}
		}
	}
}

// drawLevels draws a bar across at each level, and a dotted line from its point.
func (ch *Chart) drawLevels(c draw.Canvas, f frame) {
	const half = 5
	ch.levels(f, func(s *Series, at, mark vg.Point, name string) {
		c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: 0.8, Dashes: dotted}, at.X, at.Y, mark.X, mark.Y)
		c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: 2}, mark.X, mark.Y-half, mark.X, mark.Y+half)
		write(c, style(smallSize, TextColor(s.Color), text.XCenter, text.YBottom), mark.X, mark.Y+half+1, name)
	})
}

// taken is what the labels of points keep clear of.
type taken struct {
	boxes []vg.Rectangle
	lines []Segment
}

// taken collects markers, lines, intervals, roofs and levels.
func (ch *Chart) taken(f frame) (t taken) {
	for _, s := range ch.Series {
		for _, points := range s.Stretches() {
			var last vg.Point
			for i, pt := range points {
				at := vg.Point{X: f.X(pt.X), Y: f.Y(pt.Y)}
				t.boxes = append(t.boxes, around(at, s.markRadius()+1, s.markRadius()+1))
				if ch.thin() || len(points) == 1 && !s.Faint { // else a band
					t.lines = append(t.lines, Segment{{X: at.X, Y: f.Y(max(pt.Lo, f.y.Min))}, {X: at.X, Y: f.Y(min(pt.Hi, f.y.Max))}})
				}
				if i > 0 {
					t.lines = append(t.lines, Segment{last, at})
				}
				last = at
			}
		}
	}
	for _, r := range ch.Roofs {
		t.lines = append(t.lines, r.lines(f)...)
	}
	ch.levels(f, func(_ *Series, at, mark vg.Point, _ string) {
		t.boxes = append(t.boxes, around(vg.Point{X: mark.X, Y: mark.Y + 5}, 7, 11))
		t.lines = append(t.lines, Segment{at, mark})
	})
	return t
}

// drawPointLabels writes the labels of points beside their markers. Each goes
// to the first of twelve places where it touches no marker, line, interval or
// other label; one that finds no place is left out. The last point of a series
// goes first, so that the largest size keeps its label longest.
func (ch *Chart) drawPointLabels(c draw.Canvas, f frame) {
	t := ch.taken(f)
	for _, r := range ch.Roofs {
		t.boxes = append(t.boxes, r.drawSlopeLabel(c, f)...)
	}
	longest := each.Most(ch.Series, func(s Series) int { return len(s.Points) })
	for back := 1; back <= longest; back++ {
		for _, s := range ch.Series {
			if back > len(s.Points) || s.Points[len(s.Points)-back].Label == "" {
				continue
			}
			pt := s.Points[len(s.Points)-back]
			sty := style(smallSize, TextColor(s.Color), text.XCenter, text.YCenter)
			if s.Bold {
				sty = bold(sty)
			}
			if box, ok := t.free(vg.Point{X: f.X(pt.X), Y: f.Y(pt.Y)}, sty.Width(pt.Label), sty.Font.Size, f.box); ok {
				t.boxes = append(t.boxes, box)
				c.FillText(sty, middle(box), pt.Label)
			}
		}
	}
}

// free returns a box of the given size beside at, inside bounds, that
// meets none of the boxes and lines.
func (t taken) free(at vg.Point, w, h vg.Length, bounds vg.Rectangle) (vg.Rectangle, bool) {
	const gap = 7.5
	for _, d := range [...]vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 0.8, Y: 0.8}, {X: 0.8, Y: -0.8}, {X: -0.8, Y: 0.8}, {X: -0.8, Y: -0.8}, {Y: 2}, {Y: -2}, {Y: 3}, {Y: -3}} {
		x := at.X + d.X*(gap+w/2)
		if d.X == 0 { // above or below it may slide
			x = max(bounds.Min.X+w/2+1, min(bounds.Max.X-w/2, x))
		}
		b := around(vg.Point{X: x, Y: at.Y + d.Y*(gap+h/2)}, w/2, h/2)
		if Inside(b, bounds) && !slices.ContainsFunc(t.boxes, func(o vg.Rectangle) bool { return Meets(b, o) }) &&
			!slices.ContainsFunc(t.lines, func(l Segment) bool { return l.Crosses(b) }) {
			return b, true
		}
	}
	return vg.Rectangle{}, false
}

// drawSlopeLabel writes the name of the slope along it, above
// it, and returns boxes that cover the text.
func (r Roof) drawSlopeLabel(c draw.Canvas, f frame) (boxes []vg.Rectangle) {
	if _, known := r.Ridge(); !known || r.Other {
		return nil
	}
	slope := r.lines(f)[0]
	d := slope[1].Sub(slope[0])
	sty := style(smallSize, SoftInk, text.XCenter, text.YBottom)
	sty.Rotation = math.Atan2(float64(d.Y), float64(d.X))
	sin, cos := math.Sincos(sty.Rotation)
	const off = 4
	at := vg.Point{X: slope[0].X + d.X/2 - vg.Length(sin*off), Y: slope[0].Y + d.Y/2 + vg.Length(cos*off)}
	c.FillText(sty, at, r.BandwidthLabel)
	half := sty.Width(r.BandwidthLabel) / 2
	for along := -half; along <= half; along += sty.Font.Size / 2 {
		boxes = append(boxes, around(vg.Point{
			X: at.X + along*vg.Length(cos) - sty.Font.Size/2*vg.Length(sin),
			Y: at.Y + along*vg.Length(sin) + sty.Font.Size/2*vg.Length(cos),
		}, sty.Font.Size/2, sty.Font.Size/2))
	}
	return boxes
}
