package plots

import (
	"slices"

	"matladder/results"
)

// A Chart is a picture of lines as data: what is shown, not how. Values are in base
// units (FLOP/s, FLOP/byte, sizes); Unit says how an axis prints them.
type Chart struct {
	Heading
	X, Y   Axis
	Series []Series // first one drawn first, that is lowest
	Roofs  []Roof
	Arrows []Arrow // of a roofline
}

// An Axis is the meaning of one direction.
type Axis struct {
	Label    string
	Scale    Scale
	Min, Max float64
	Unit     Unit
	Ticks    []Tick // where given, these and no others
}

// A Scale maps values to places on an axis.
type Scale int

const (
	Linear Scale = iota
	Log
	Category // equal steps; values are 0, 1, 2 …
)

// A Tick is a labelled value of an axis. Where labels collide, the ones with
// the lowest Rank stay.
type Tick struct {
	Value float64
	Label string
	Rank  int
}

// A Series is one line: points of one kernel, never measured and predicted
// ones together.
type Series struct {
	Label     string
	Kernel    string  // fixes the colour
	Hue       Hue     // fixes it where all series are of one kernel; 0 for none
	Shade     float64 // within the kernel's colour: -1 lightest, 0 the colour itself, 1 darkest
	Shape     int     // of the marker; series of a chart differ
	Bold      bool
	Predicted bool
	Points    []Point // in the order in which they are joined; on a size axis by X
	Failures  []Failure
}

// A Point is one value with its interval. Lo = Y = Hi where none is known.
type Point struct {
	X, Y, Lo, Hi float64
	Label        string // beside the marker; may be empty
	Apart        bool   // not joined to the points around it
	Rough        bool   // not to be relied on: no axis is made for it, and its mark is hollow
	Levels       []Level
}

// stretches splits the points where the line between two of them would cross
// a failure, and sets points apart that join nothing.
func (s *Series) stretches() [][]Point {
	var list [][]Point
	for i, pt := range s.Points {
		if i > 0 && !pt.Apart && !s.Points[i-1].Apart && !s.failedBetween(s.Points[i-1].X, pt.X) {
			list[len(list)-1] = append(list[len(list)-1], pt)
			continue
		}
		list = append(list, []Point{pt})
	}
	return list
}

func (s *Series) failedBetween(from, to float64) bool {
	return slices.ContainsFunc(s.Failures, func(f Failure) bool { return f.X > from && f.X < to })
}

// A Failure is a point that has no value.
type Failure struct {
	X      float64
	Status string
}

// A Roof is what the hardware allows: min(Peak, intensity × Bandwidth). On a
// size axis only Peak counts. Zero means not known.
type Roof struct {
	Label           string // of the peak
	BandwidthLabel  string
	Peak, Bandwidth float64
	Predicted       bool
	Of              results.Unit // what Peak counts
	Other           bool         // of a dtype that is not the chart's
}

// An Arrow leads from one rung of the ladder to the next.
type Arrow struct{ From, To Point }

// Ridge returns the intensity from which on the peak is the lower of the two
// limits, and whether both are known.
func (r Roof) Ridge() (flopsPerByte float64, known bool) {
	if r.Peak <= 0 || r.Bandwidth <= 0 {
		return 0, false
	}
	return r.Peak / r.Bandwidth, true
}
