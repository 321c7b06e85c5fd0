package harness

import (
	"math"
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
	s, ok := interval(times)
	return ok && max(s.Hi-s.Center, s.Center-s.Lo) <= narrowEnough*s.Center
}

// interval is the median of times with its interval; false if they are too few for
// one.
func interval(times []float64) (s benchmath.Summary, ok bool) {
	if len(times) == 0 {
		return s, false
	}
	sample := benchmath.NewSample(slices.Clone(times), &benchmath.DefaultThresholds)
	s = benchmath.AssumeNothing.Summary(sample, confidence)
	return s, s.Confidence >= confidence && !math.IsInf(s.Hi-s.Lo, 0)
}
