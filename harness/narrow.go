package harness

import "slices"

// narrowEnough is the half-width of a median's interval, relative to the median,
// at which more rounds would not change what a reader concludes.
const narrowEnough = 0.02

// fewest is the number of samples below which nothing is said of a median.
const fewest = 5

// narrow reports whether the median of times is known well enough. Its interval
// lies between two order statistics, as far out as needed for 90 % confidence,
// whatever the distribution.
func narrow(times []float64) bool {
	n := len(times)
	if n < fewest {
		return false
	}
	sorted := slices.Sorted(slices.Values(times))
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	rank := medianRank(n)
	return sorted[n-1-rank]-sorted[rank] <= 2*narrowEnough*median
}

// medianRank is the largest r for which order statistics r and n-1-r (from 0)
// enclose the median with at least 90 % confidence; 0 if none does.
func medianRank(n int) int {
	const tail = 0.05
	p := 1.0 // of exactly r of n fair coins showing heads
	for range n {
		p /= 2
	}
	cumulative := p
	rank := 0
	for r := 0; r < n/2; r++ {
		if cumulative > tail {
			break
		}
		rank = r
		p *= float64(n-r) / float64(r+1)
		cumulative += p
	}
	return rank
}
