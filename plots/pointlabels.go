package plots

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawPointLabels writes the labels of points beside their markers. Each goes
// to the first of eight places where it touches no marker, line, interval or
// other label; one that finds no place is left out. The last point of a series
// goes first, so that the largest size keeps its label longest.
func (ch *Chart) drawPointLabels(c draw.Canvas, f frame) {
	var taken []vg.Rectangle
	var lines [][2]vg.Point
	longest := 0
	for _, s := range ch.Series {
		longest = max(longest, len(s.Points))
		for _, points := range s.stretches() {
			var last vg.Point
			for i, pt := range points {
				at := vg.Point{X: f.X(pt.X), Y: f.Y(pt.Y)}
				taken = append(taken, around(at, 5, 5))
				lines = append(lines, [2]vg.Point{{X: at.X, Y: f.Y(max(pt.Lo, f.y.Min))}, {X: at.X, Y: f.Y(min(pt.Hi, f.y.Max))}})
				if i > 0 {
					lines = append(lines, [2]vg.Point{last, at})
				}
				last = at
			}
		}
	}
	for _, r := range ch.Roofs {
		lines = append(lines, r.lines(f)...)
		taken = append(taken, r.drawSlopeLabel(c, f)...)
	}
	lines = append(lines, ch.arrowLines(f)...)
	boxes, dotted := ch.levelBoxes(f)
	taken, lines = append(taken, boxes...), append(lines, dotted...)
	for back := 1; back <= longest; back++ {
		for i := range ch.Series {
			s := &ch.Series[i]
			if back > len(s.Points) {
				continue
			}
			pt := s.Points[len(s.Points)-back]
			if pt.Label == "" {
				continue
			}
			sty := aligned(style(smallSize, textColor(s.color())), text.XCenter, text.YCenter)
			box, ok := freePlace(vg.Point{X: f.X(pt.X), Y: f.Y(pt.Y)}, sty.Width(pt.Label), sty.Font.Size, f.box, taken, lines)
			if !ok {
				continue
			}
			taken = append(taken, box)
			c.FillText(sty, middle(box), pt.Label)
		}
	}
}

// freePlace returns a box of the given size beside at, inside bounds, that
// meets none of the boxes and lines.
func freePlace(at vg.Point, w, h vg.Length, bounds vg.Rectangle, boxes []vg.Rectangle, lines [][2]vg.Point) (vg.Rectangle, bool) {
	const gap = 6.5
	for _, d := range [...]vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 0.8, Y: 0.8}, {X: 0.8, Y: -0.8}, {X: -0.8, Y: 0.8}, {X: -0.8, Y: -0.8}} {
		centre := vg.Point{X: at.X + d.X*(gap+w/2), Y: at.Y + d.Y*(gap+h/2)}
		box := around(centre, w/2, h/2)
		if inside(box, bounds) && !meetsAny(box, boxes) && !crossedByAny(box, lines) {
			return box, true
		}
	}
	return vg.Rectangle{}, false
}

// lines returns the roof as segments on the canvas.
func (r Roof) lines(f frame) [][2]vg.Point {
	ridge, known := r.Ridge()
	if !known {
		return [][2]vg.Point{{{X: f.box.Min.X, Y: f.Y(r.Peak)}, {X: f.box.Max.X, Y: f.Y(r.Peak)}}}
	}
	start := max(f.x.Min, f.y.Min/r.Bandwidth)
	corner := vg.Point{X: f.X(ridge), Y: f.Y(r.Peak)}
	return [][2]vg.Point{
		{{X: f.X(start), Y: f.Y(start * r.Bandwidth)}, corner},
		{corner, {X: f.box.Max.X, Y: corner.Y}},
		{corner, {X: corner.X, Y: f.box.Min.Y}},
	}
}

// drawSlopeLabel writes the name of the memory roof along its slope, above
// it, and returns boxes that cover the text.
func (r Roof) drawSlopeLabel(c draw.Canvas, f frame) []vg.Rectangle {
	if _, known := r.Ridge(); !known || r.Other {
		return nil
	}
	slope := r.lines(f)[0]
	dx, dy := slope[1].X-slope[0].X, slope[1].Y-slope[0].Y
	sty := aligned(style(smallSize, softInk), text.XCenter, text.YBottom)
	sty.Rotation = math.Atan2(float64(dy), float64(dx))
	sin, cos := math.Sincos(sty.Rotation)
	const off = 4
	at := vg.Point{X: slope[0].X + dx/2 - vg.Length(sin*off), Y: slope[0].Y + dy/2 + vg.Length(cos*off)}
	c.FillText(sty, at, r.BandwidthLabel)
	var boxes []vg.Rectangle
	half := sty.Width(r.BandwidthLabel) / 2
	for along := -half; along <= half; along += sty.Font.Size / 2 {
		boxes = append(boxes, around(vg.Point{
			X: at.X + along*vg.Length(cos) - sty.Font.Size/2*vg.Length(sin),
			Y: at.Y + along*vg.Length(sin) + sty.Font.Size/2*vg.Length(cos),
		}, sty.Font.Size/2, sty.Font.Size/2))
	}
	return boxes
}

func around(at vg.Point, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: at.X - w, Y: at.Y - h}, Max: vg.Point{X: at.X + w, Y: at.Y + h}}
}

func middle(b vg.Rectangle) vg.Point {
	return vg.Point{X: (b.Min.X + b.Max.X) / 2, Y: (b.Min.Y + b.Max.Y) / 2}
}

func inside(b, bounds vg.Rectangle) bool {
	return b.Min.X >= bounds.Min.X && b.Max.X <= bounds.Max.X && b.Min.Y >= bounds.Min.Y && b.Max.Y <= bounds.Max.Y
}

func meets(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

func meetsAny(b vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if meets(b, o) {
			return true
		}
	}
	return false
}

func crossedByAny(b vg.Rectangle, lines [][2]vg.Point) bool {
	for _, l := range lines {
		if crosses(l, b) {
			return true
		}
	}
	return false
}

// crosses reports whether the segment l touches b: it cuts the segment to the
// part inside each side in turn (Liang and Barsky, 1984).
func crosses(l [2]vg.Point, b vg.Rectangle) bool {
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
