package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawArrows draws the arrows from marker to marker.
func (ch *Chart) drawArrows(c draw.Canvas, f frame) {
	for _, way := range ch.arrowWays(f) {
		drawArrow(c, way)
	}
}

// arrowWays returns the arrows as points along them, which begin and end clear of the
// markers. Each bows to the right of the way from one to the other, as traffic keeps to
// one side: where the next rung leads back to nearly the same place, the two are a lens.
func (ch *Chart) arrowWays(f frame) [][]vg.Point {
	const clear, pieces, bow, widest = 8, 12, 0.13, 20
	var list [][]vg.Point
	for _, a := range ch.Arrows {
		from, to := vg.Point{X: f.X(a.From.X), Y: f.Y(a.From.Y)}, vg.Point{X: f.X(a.To.X), Y: f.Y(a.To.Y)}
		d := to.Sub(from)
		length := math.Hypot(float64(d.X), float64(d.Y))
		if length <= 3*clear {
			continue // the markers touch: there is no room for an arrow, nor need
		}
		side := vg.Point{X: d.Y, Y: -d.X}.Scale(vg.Length(2 * min(bow, widest/length))) // of the control point, which the curve goes half the way to
		control := from.Add(d.Scale(0.5)).Add(side)
		off := func(marker vg.Point) vg.Point { // clear of it, towards the control point
			d := control.Sub(marker)
			return marker.Add(d.Scale(vg.Length(clear / math.Hypot(float64(d.X), float64(d.Y)))))
		}
		from, to = off(from), off(to)
		way := make([]vg.Point, pieces+1)
		for i := range way {
			t := vg.Length(i) / pieces
			way[i] = from.Scale((1 - t) * (1 - t)).Add(control.Scale(2 * t * (1 - t))).Add(to.Scale(t * t))
		}
		list = append(list, way)
	}
	return list
}

// arrowLines returns the pieces of all arrows.
func (ch *Chart) arrowLines(f frame) (list [][2]vg.Point) {
	for _, way := range ch.arrowWays(f) {
		for i := range way[1:] {
			list = append(list, [2]vg.Point{way[i], way[i+1]})
		}
	}
	return list
}

// drawArrow draws a line along the points with a head at the last.
func drawArrow(c draw.Canvas, way []vg.Point) {
	const head, half = 9, 3.6
	n := len(way) - 1
	to := way[n]
	for n > 0 && math.Hypot(float64(to.X-way[n-1].X), float64(to.Y-way[n-1].Y)) < head {
		n-- // those lie below the head
	}
	d := to.Sub(way[max(0, n-1)])
	d = d.Scale(vg.Length(1 / math.Hypot(float64(d.X), float64(d.Y))))
	neck := to.Sub(d.Scale(head))
	c.StrokeLines(draw.LineStyle{Color: softInk, Width: 1.6}, append(append([]vg.Point{}, way[:n]...), neck))
	side := vg.Point{X: -d.Y * half, Y: d.X * half}
	c.FillPolygon(softInk, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}
