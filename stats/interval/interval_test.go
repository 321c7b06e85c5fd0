package interval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/stats/interval"
)

func ExampleOfRatios() {
	// A machine that slows down takes both programs along: the ratios do not see it.
	slow := []float64{2.0, 2.2, 2.4, 2.6, 2.8, 3.0}
	fast := []float64{1.0, 1.1, 1.2, 1.3, 1.4, 1.5}
	r := interval.OfRatios(slow, fast)
	fmt.Printf("%.2f (%.2f to %.2f), sure: %t\n", r.Median, r.Lo, r.Hi, r.Sure())
	// Output: 2.00 (2.00 to 2.00), sure: true
}

// TestOf_Holds draws samples of a distribution with a long tail, whose median is known:
// intervals hold it about as often as they say.
func TestOf_Holds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	for _, n := range []int{6, 7, 12, 30} {
		held := 0
		for range trials {
			samples := make([]float64, n)
			for i := range samples {
				samples[i] = rng.ExpFloat64()
			}
			if s := interval.Of(samples); s.Sure() && s.Lo <= math.Ln2 && math.Ln2 <= s.Hi {
				held++
			}
		}
		if share := float64(held) / trials; share < interval.Confidence-0.01 {
			t.Errorf("%d samples: %.3f of the intervals hold the median", n, share)
		}
	}
}

func TestOf_Few(t *testing.T) {
	for n := range interval.Enough + 2 {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64(n - i)
		}
		s := interval.Of(samples)
		if s.Sure() != (n >= interval.Enough) || s.N != n {
			t.Errorf("%d samples: %+v", n, s)
		}
		if n > 0 && (samples[0] != float64(n) || !(s.Lo >= 1 && s.Lo <= s.Median && s.Median <= s.Hi && s.Hi <= float64(n))) {
			t.Errorf("%d samples: %+v of %v", n, s, samples)
		}
	}
	if s := interval.OfRatios([]float64{3, 4, 5}, []float64{1}); s.N != 1 || s.Median != 3 || s.Confidence != 0 {
		t.Errorf("one pair: %+v", s)
	}
}
