package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is one line with its points.
type Series struct {
	Label     string
	Color     color.NRGBA
	Shape     int // of the marker
	Bold      bool
	Faint     bool // small pale marks that no line joins: only where they are matters
	Predicted bool
	Points    []Point // in the order in which they are joined
	Failures  []Failure
	Missing   []float64 // where others have points: no line crosses it
}

// A Point is one value with its interval. Lo = Y = Hi where none is known.
type Point struct {
	X, Y, Lo, Hi  float64
	Label         string // beside the marker; may be empty
	LowConfidence bool   // not to be relied on: no axis is made for it, and its mark is hollow
	Levels        []Level
}

// A Level is another x that a point has by a name, marked at its height.
type Level struct {
	Name string
	X    float64
}

// A Failure is a point that has no value. It has a cross unless nothing was tried.
type Failure struct {
	X       float64
	Status  string
	Untried bool
}

// Sort brings points and failures into the order of the axis.
func (s *Series) Sort() {
	slices.SortFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	slices.SortFunc(s.Failures, func(a, b Failure) int { return cmp.Compare(a.X, b.X) })
}

// Stretches splits the points where the line between two of them would cross
// a failure or a missing point, and sets faint ones apart.
func (s *Series) Stretches() [][]Point {
	var list [][]Point
	for i, pt := range s.Points {
		if i > 0 && !s.Faint && !s.failedBetween(s.Points[i-1].X, pt.X) {
			list[len(list)-1] = append(list[len(list)-1], pt)
			continue
		}
		list = append(list, []Point{pt})
	}
	return list
}

func (s *Series) failedBetween(from, to float64) bool {
	between := func(x float64) bool { return x > from && x < to }
	return slices.ContainsFunc(s.Missing, between) || slices.ContainsFunc(s.Failures, func(f Failure) bool { return between(f.X) })
}

// drawAll draws the bands of all series below the lines of all. Lines that are thin only
// guide the eye: nothing lies between two points.
func drawAll(c draw.Canvas, f frame, series []Series, thin bool) {
	for i := range series {
		series[i].drawIntervals(c, f, thin)
	}
	for i := range series {
		series[i].drawLine(c, f, thin)
	}
}

// markRadius is that of a marker.
func (s *Series) markRadius() vg.Length {
	if s.Faint {
		return 2.4
	}
	return 4
}

// drawIntervals fills the intervals round the line, or draws each as a bar where nothing
// lies between points.
func (s *Series) drawIntervals(c draw.Canvas, f frame, thin bool) {
	if s.Faint {
		return
	}
	pale := s.Color
	pale.A = 0x33
	for _, points := range s.Stretches() {
		var upper, lower []vg.Point
		for _, pt := range points {
			hi, lo := f.at(pt.X, pt.Hi), f.at(pt.X, pt.Lo)
			upper, lower = append(upper, hi), append(lower, lo)
			if pt.Hi > pt.Lo && (len(points) == 1 || thin) {
				c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: 1.5}, lo.X, lo.Y, hi.X, hi.Y)
			}
		}
		if len(points) > 1 && !thin {
			slices.Reverse(lower)
			c.FillPolygon(pale, append(upper, lower...))
		}
	}
}

func (s *Series) drawLine(c draw.Canvas, f frame, thin bool) {
	sty := draw.LineStyle{Color: s.Color, Width: 2}
	if s.Bold {
		sty.Width = 3.2
	}
	if thin {
		sty.Width = 0.8
	}
	if s.Predicted {
		sty.Dashes = dashed
	}
	for _, points := range s.Stretches() {
		if len(points) > 1 {
			c.StrokeLines(sty, each.Of(points, func(pt Point) vg.Point { return f.at(pt.X, pt.Y) }))
		}
	}
	for _, pt := range s.Points {
		s.drawMarker(c, f.at(pt.X, pt.Y), pt.LowConfidence)
	}
}

// drawMarker draws the series' marker with a white rim, so that markers on top of each other
// stay apart.
func (s *Series) drawMarker(c draw.Canvas, at vg.Point, lowConfidence bool) {
	radius := s.markRadius()
	m := markers[s.Shape%len(markers)]
	part := func(col color.Color, radius vg.Length) {
		c.SetColor(col)
		c.Fill(m.path(at, radius))
	}
	part(White, radius+1.2)
	part(s.Color, radius)
	if s.Predicted || lowConfidence {
		part(White, radius*0.6)
	}
}

// entry names the series in a key.
func (s Series) entry() keyEntry {
	return keyEntry{s.Label, TextColor(s.Color), func(c draw.Canvas, at vg.Point) { s.drawMarker(c, at, false) }}
}

// A marker is a filled shape. Markers tell series of one colour apart, on paper and for every eye.
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

// Shapes is how many markers there are.
var Shapes = len(markers)

// path returns the outline round at.
func (m marker) path(at vg.Point, radius vg.Length) (p vg.Path) {
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
