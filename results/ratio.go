package results

import (
	"math"
	"slices"
)

// maxRatioSamples bounds how many samples of a run ratioOf pairs.
const maxRatioSamples = 500

// ratioOf estimates by which factor times fell from old to new: the median of
// the ratios of all pairs (Hodges and Lehmann 1963), with the interval that
// belongs to the Mann-Whitney U test, which the rest of the package's intervals
// agree with in assuming nothing about the distribution: it holds 1 exactly if
// that test finds no difference. With few samples the interval is that of all
// pairs and Confidence says what that is worth.
func ratioOf(old, new []float64) Estimate {
	old, new = thinnedSamples(old), thinnedSamples(new)
	m, n := len(old), len(new)
	if m == 0 || n == 0 {
		return Estimate{}
	}
	ratios := make([]float64, 0, m*n)
	for _, a := range old {
		for _, b := range new {
			ratios = append(ratios, a/b)
		}
	}
	slices.Sort(ratios)
	e := Estimate{Median: (ratios[(m*n-1)/2] + ratios[m*n/2]) / 2, N: min(m, n)}
	skip, confidence := outside(m, n)
	e.Lo, e.Hi, e.Confidence = ratios[skip], ratios[m*n-1-skip], confidence
	return e
}

// thinnedSamples returns the positive samples, evenly chosen by rank if there are
// many.
func thinnedSamples(samples []float64) []float64 {
	var list []float64
	for _, s := range samples {
		if s > 0 {
			list = append(list, s)
		}
	}
	if len(list) <= maxRatioSamples {
		return list
	}
	slices.Sort(list)
	kept := make([]float64, maxRatioSamples)
	for i := range kept {
		kept[i] = list[i*(len(list)-1)/(maxRatioSamples-1)]
	}
	return kept
}

// outside returns how many of the m·n sorted ratios lie outside a 95 % interval
// at either end, and the confidence that this reaches: P(skip < U < m·n − skip)
// where both runs are alike.
func outside(m, n int) (skip int, confidence float64) {
	const tail = (1 - wantConfidence) / 2
	if m*n > 900 { // where the normal approximation is good to three digits
		sd := math.Sqrt(float64(m) * float64(n) * float64(m+n+1) / 12)
		skip = int(float64(m*n)/2 - 1.959964*sd - 0.5)
		return max(skip, 0), wantConfidence
	}
	ways := waysOfU(m, n)
	all := 0.0
	for _, w := range ways {
		all += w
	}
	below := ways[0] / all // P(U <= skip)
	for below+ways[skip+1]/all <= tail {
		skip++
		below += ways[skip] / all
		if skip+1 >= len(ways)/2 {
			break
		}
	}
	return skip, 1 - 2*below
}

// waysOfU counts, for U from 0 to m·n, the orders of m and n samples that have
// it: the coefficients of the Gaussian binomial (Mann and Whitney 1947).
func waysOfU(m, n int) []float64 {
	counts := make([][][]float64, m+1)
	for i := range counts {
		counts[i] = make([][]float64, n+1)
		for j := range counts[i] {
			c := make([]float64, i*j+2)
			if i == 0 || j == 0 {
				c[0] = 1
			} else {
				// The largest sample is one of the first kind, above all j others, or of
				// the second.
				for u, w := range counts[i-1][j] {
					if w > 0 {
						c[u+j] += w
					}
				}
				for u, w := range counts[i][j-1] {
					c[u] += w
				}
			}
			counts[i][j] = c
		}
	}
	return counts[m][n]
}
