package harness

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// narrowEnough is the half-width of a median's interval, relative to the median,
// at which more rounds would not change what a reader concludes.
const narrowEnough = 0.02

// confidence is that of the interval, the same as the reader's. Fewer than 6
// samples do not reach it.
const confidence = 0.95

// narrow reports whether the median of times is known well enough, without an
// assumption on their distribution.
func narrow(times []float64) bool {
	if len(times) == 0 {
		return false
	}
	sample := benchmath.NewSample(slices.Clone(times), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	return s.Confidence >= confidence && max(s.Hi-s.Center, s.Center-s.Lo) <= narrowEnough*s.Center
}
