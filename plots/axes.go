package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

const upright = math.Pi / 2

// slant returns the least angle at which labels one step apart do not touch,
// upright if only that may help.
func slant(height, step vg.Length) float64 {
	for _, angle := range []float64{math.Pi / 6, math.Pi / 4, math.Pi / 3} {
		if float64(step)*math.Sin(angle) >= 1.2*float64(height) {
			return angle
		}
	}
	return upright
}

// ticks returns the axis' own ticks, or round ones.
func (ax Axis) ticks() []Tick {
	switch {
	case ax.Ticks != nil:
		return ax.Ticks
	case ax.Scale == Log:
		return logTicks(ax.Min, ax.Max, ax.Unit)
	}
	return linearTicks(ax.Max, ax.Unit, 6)
}

// thinned blanks the labels that would collide with one of a lower rank, or
// of the same rank and further left. The ticks themselves stay.
func thinned(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) []Tick {
	order := slices.Clone(ticks)
	slices.SortStableFunc(order, func(a, b Tick) int { return cmp.Compare(a.Rank, b.Rank) })
	var kept []Tick
	shown := map[float64]bool{}
	for _, t := range order {
		if !slices.ContainsFunc(kept, func(k Tick) bool { return collide(t, k, place, extent) }) {
			kept = append(kept, t)
			shown[t.Value] = true
		}
	}
	out := slices.Clone(ticks)
	for i := range out {
		if !shown[out[i].Value] {
			out[i].Label = "" // gonum draws a shorter tick
		}
	}
	return out
}

func crowded(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	for i := 1; i < len(ticks); i++ {
		if collide(ticks[i-1], ticks[i], place, extent) {
			return true
		}
	}
	return false
}

func collide(a, b Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	return vg.Length(math.Abs(float64(place(a.Value)-place(b.Value)))) < (extent(a)+extent(b))/2
}

// along is where v lies between the ends of the axis: 0 at Min, 1 at Max.
func (ax Axis) along(v float64) float64 {
	if ax.Scale == Log { // of values that are positive
		return math.Log(v/ax.Min) / math.Log(ax.Max/ax.Min)
	}
	return (v - ax.Min) / (ax.Max - ax.Min)
}

// clamp is v, or the end of the axis beyond which it lies.
func clamp(v float64, ax Axis) float64 { return max(ax.Min, min(ax.Max, v)) }
