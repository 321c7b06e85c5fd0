package harness

import "matladder/stats/interval"

// narrowEnough is the half-width of a median's interval, relative to the median,
// at which more rounds would not change what a reader concludes.
const narrowEnough = 0.02

// narrow reports whether the median of times is known well enough, without an
// assumption on their distribution.
func narrow(times []float64) bool {
	i := interval.Of(times)
	return i.Sure() && i.Spread() <= narrowEnough
}
