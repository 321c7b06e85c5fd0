// Package twosample tells whether one of two programs is faster, or which of many runs
// changed, from times that a shared machine has made noisy. It has the statistics alone: files, points and verdicts
// are those of package results (verdict.go).
//
//   - Compare, of runs: each side was executed some times, and each execution, a run, has
//     some samples. Runs are the unit: samples of one run share what memory, clock and
//     neighbours it had, and tell nothing of how the next run would come out (runs.go: a
//     moderated t-test).
//   - CompareTurns: both sides were executed in turns, a pair at a time in an order drawn
//     at random. The orders that could have been drawn instead are then all the theory
//     that is needed (turns.go: a randomization test). Where they do not tell yet, more
//     of them may (Looks).
//   - Steps, of a series of runs: which of them changed its level (steps.go: a regression
//     beside drift).
//
// All look at the fast end of the samples. Other work makes a time longer, never
// shorter: the fast end is what the program takes, the slow end what the machine did.
//
// All times are logarithms, so that a difference is a ratio. Positive differences mean
// that the new side is faster.
package twosample

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"matladder/internal/each"
)

// A Difference is log(rate of new / rate of old).
type Difference struct {
	Log        float64
	Lo, Hi     float64 // interval of 95 % confidence
	Lo90, Hi90 float64 // interval of 90 % confidence, for Within; both surer for one of several looks
	P          float64 // p-value of there being no difference

	t distuv.StudentsT // of the estimate, about no difference; of Compare alone
}

// Within reports whether the difference is shown to lie between -band and band, a
// logarithm too. It is the test of equivalence by two one-sided tests at 5 % each, which
// hold where the 90 % interval lies inside (Schuirmann 1987).
func (d Difference) Within(band float64) bool { return d.Lo90 >= -band && d.Hi90 <= band }

// Adjust returns, for the p-values of several tests, the smallest false discovery rate at which
// each of them is still a discovery (Benjamini and Hochberg 1995), in the order of p. It holds for
// tests that go up and down together, as those of one machine do (Benjamini and Yekutieli 2001).
func Adjust(p []float64) []float64 {
	order := each.Upto(len(p), func(i int) int { return i })
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	adjusted := make([]float64, len(p))
	least := 1.0
	for at, i := range order { // from the largest
		rank := len(p) - at
		least = math.Min(least, p[i]*float64(len(p))/float64(rank))
		adjusted[i] = least
	}
	return adjusted
}
