// Package interval says what a few noisy times are worth: their median, and an interval
// that holds the true one. It is the only place that does (package stats/twosample
// tells two programs apart); golang.org/x/perf/benchmath is behind it.
package interval

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Confidence is what is asked of every interval.
const Confidence = 0.95

// Enough is how many samples an interval of that confidence takes at least.
const Enough = 6

// An Interval is the median of samples and an interval that holds the true median with
// the given Confidence. It assumes nothing about their distribution.
//
// With fewer than Enough samples no interval reaches Confidence. Then Lo and Hi are the
// smallest and the largest sample and Confidence says what that is worth: 1 − 2^(1−N), so
// 0 for one sample. The zero Interval is of no samples.
type Interval struct {
	Median, Lo, Hi float64
	Confidence     float64
	N              int // samples
}

// Of returns the interval of samples, which it leaves as they are.
func Of(samples []float64) Interval {
	n := len(samples)
	if n == 0 {
		return Interval{}
	}
	sample := benchmath.NewSample(slices.Clone(samples), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, Confidence)
	i := Interval{Median: s.Center, Lo: s.Lo, Hi: s.Hi, Confidence: s.Confidence, N: n}
	if math.IsInf(i.Lo, 0) || math.IsInf(i.Hi, 0) {
		i.Lo, i.Hi = sample.Values[0], sample.Values[n-1]
		i.Confidence = 1 - math.Ldexp(1, 1-n)
	}
	return i
}

// OfRatios returns the interval of a over b, taken pair by pair: what changes from one pair to the
// next cancels. Where one has more samples than the other, those without a partner do not count.
func OfRatios(a, b []float64) Interval {
	ratios := make([]float64, min(len(a), len(b)))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	return Of(ratios)
}

// Quantile interpolates between the two of sorted samples, of which there is one at least, that
// lie around a share of them.
func Quantile(sorted []float64, share float64) float64 {
	place := share * float64(len(sorted)-1)
	i := min(int(place), len(sorted)-1)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
}

// Sure reports whether the interval has the confidence that is asked.
func (i Interval) Sure() bool { return i.N > 0 && i.Confidence >= Confidence }

// Spread is how far the interval reaches from the median, as a fraction of it.
func (i Interval) Spread() float64 {
	if i.Median == 0 {
		return 0
	}
	return max(i.Hi-i.Median, i.Median-i.Lo) / math.Abs(i.Median)
}
