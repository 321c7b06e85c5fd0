package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawArrows draws the arrows from marker to marker.
func (ch *Chart) drawArrows(c draw.Canvas, f frame) {
	for _, l := range ch.arrowLines(f) {
		drawArrow(c, l[0], l[1])
	}
}

// arrowLines returns the arrows as segments that end clear of the markers. Each
// keeps to the right of the way from one to the other, as traffic does: where the
// next rung leads back, the two lie side by side.
func (ch *Chart) arrowLines(f frame) [][2]vg.Point {
	const clear, right = 8, 4
	var list [][2]vg.Point
	for _, a := range ch.Arrows {
		from, to := vg.Point{X: f.X(a.From.X), Y: f.Y(a.From.Y)}, vg.Point{X: f.X(a.To.X), Y: f.Y(a.To.Y)}
		length := math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y))
		if length <= 3*clear {
			continue // the markers touch: there is no room for an arrow, nor need
		}
		off := to.Sub(from).Scale(vg.Length(clear / length))
		side := vg.Point{X: off.Y, Y: -off.X}.Scale(right / clear)
		list = append(list, [2]vg.Point{from.Add(off).Add(side), to.Sub(off).Add(side)})
	}
	return list
}

func drawArrow(c draw.Canvas, from, to vg.Point) {
	const head, half = 9, 3.6
	d := to.Sub(from)
	d = d.Scale(vg.Length(1 / math.Hypot(float64(d.X), float64(d.Y))))
	neck := to.Sub(d.Scale(head))
	c.StrokeLine2(draw.LineStyle{Color: softInk, Width: 1.6}, from.X, from.Y, neck.X, neck.Y)
	side := vg.Point{X: -d.Y * half, Y: d.X * half}
	c.FillPolygon(softInk, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}
