package stats

import (
	"fmt"
	"math"
	"slices"

	"matladder/stats/interval"
)

// An Estimate is a median and an interval that holds the true median with the
// given Confidence. It assumes nothing about the distribution of its samples.
//
// With fewer than 6 samples no interval reaches 95 %. Then Lo and Hi are the
// smallest and the largest sample and Confidence says what that is worth:
// 1 − 2^(1−N), so 0 for one sample. The zero Estimate is unknown.
type Estimate struct {
	Median, Lo, Hi float64
	Confidence     float64
	N              int // samples

	// LowConfidence says that the machine was disturbed in so many of the rounds that the
	// estimate is not to be relied on.
	LowConfidence bool

	// Band says that it is a prediction: Lo and Hi are what it may be, as far as is known,
	// and no confidence.
	Band bool
}

// Known reports whether there is an estimate at all.
func (e Estimate) Known() bool { return e.N > 0 }

// Sure reports whether the interval holds with 95 % confidence.
func (e Estimate) Sure() bool { return e.Confidence >= interval.Confidence }

// widest is how many times its lower end the upper end of an interval may be, for what
// it holds to be compared with anything.
const widest = 2

// Holds reports whether a reader may rely on the estimate: the machine was quiet enough,
// and the interval does not span more than twofold.
func (e Estimate) Holds() bool {
	return e.Known() && !e.LowConfidence && (e.Band || e.Lo > 0 && e.Hi <= widest*e.Lo)
}

// Spread returns how far the interval reaches from the median, as a fraction of it.
func (e Estimate) Spread() float64 {
	if e.Median == 0 {
		return 0
	}
	return math.Max(e.Hi-e.Median, e.Median-e.Lo) / math.Abs(e.Median)
}

// estimate summarizes samples, which it leaves as they are.
func estimate(samples []float64) Estimate {
	i := interval.Of(samples)
	return Estimate{Median: i.Center, Lo: i.Lo, Hi: i.Hi, Confidence: i.Confidence, N: i.N}
}

// cells are the estimate, with so many digits behind the point, and its interval.
func (e Estimate) cells(digits int) (median, ends string) {
	ends = fmt.Sprintf("%.*f – %.*f", digits, e.Lo, digits, e.Hi)
	if !e.Sure() {
		ends += fmt.Sprintf(" (n=%d)", e.N)
	}
	return fmt.Sprintf("%.*f", digits, e.Median), ends
}

// scale returns the estimate of factor times what e estimates.
func (e Estimate) scale(factor float64) Estimate {
	e.Median, e.Lo, e.Hi = e.Median*factor, e.Lo*factor, e.Hi*factor
	return e
}

// under returns the estimate of work / x where e estimates x, which must have
// a positive median. Where e's interval reaches zero the result has no upper
// bound: Hi is then the median and Confidence 0.
func (e Estimate) under(work float64) Estimate {
	rate := Estimate{Median: work / e.Median, Lo: work / e.Hi, Hi: work / e.Lo, Confidence: e.Confidence, N: e.N, LowConfidence: e.LowConfidence, Band: e.Band}
	if e.Lo <= 0 {
		rate.Hi, rate.Confidence = rate.Median, 0
	}
	return rate
}

// fitLine fits y = slope·x + intercept by least squares. ok is false where x has
// fewer than two distinct values.
func fitLine(x, y []float64) (slope, intercept float64, ok bool) {
	var mx, my float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if len(x) < 2 || slices.Min(x) == slices.Max(x) {
		return 0, 0, false
	}
	slope = sxy / sxx
	return slope, my - slope*mx, true
}
