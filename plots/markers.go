package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// A marker is a filled shape. Markers tell series of one colour apart, on
// paper and for every eye.
type marker struct {
	corners int     // 0 is a circle
	turn    float64 // of the first corner, from straight down, in steps between corners
	dent    float64 // radius of inner corners of a star, 0 for none
	size    float64 // so that all look equally large
}

var markers = []marker{
	{size: 1},                                      // circle
	{corners: 4, turn: 0.5, size: 1.2},             // square
	{corners: 3, turn: 0.5, size: 1.35},            // triangle
	{corners: 4, size: 1.3},                        // diamond
	{corners: 3, size: 1.35},                       // triangle, point down
	{corners: 5, turn: 0.5, dent: 0.42, size: 1.6}, // star
	{corners: 6, size: 1.15},                       // hexagon
	{corners: 4, dent: 0.4, size: 1.6},             // four-pointed star
	{corners: 4, turn: 0.5, dent: 0.4, size: 1.6},  // the same, turned
	{corners: 6, dent: 0.45, size: 1.55},           // six-pointed star
}

// path returns the outline round at.
func (m marker) path(at vg.Point, radius vg.Length) vg.Path {
	var p vg.Path
	r := float64(radius) * m.size
	if m.corners == 0 {
		p.Move(vg.Point{X: at.X + vg.Length(r), Y: at.Y})
		p.Arc(at, vg.Length(r), 0, 2*math.Pi)
		p.Close()
		return p
	}
	corner := func(share, r float64) vg.Point {
		// From the lowest point on, share of a full turn.
		sin, cos := math.Sincos(2*math.Pi*share - math.Pi/2)
		return vg.Point{X: at.X + vg.Length(r*cos), Y: at.Y + vg.Length(r*sin)}
	}
	step := 1 / float64(m.corners)
	for i := range m.corners {
		share := (float64(i) + m.turn) * step
		if i == 0 {
			p.Move(corner(share, r))
		} else {
			p.Line(corner(share, r))
		}
		if m.dent > 0 {
			p.Line(corner(share+step/2, r*m.dent))
		}
	}
	p.Close()
	return p
}
