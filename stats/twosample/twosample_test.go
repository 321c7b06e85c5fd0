package twosample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNewRun holds the figure and its error to what resampling gives.
func TestNewRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 7, 12, 40} {
		times := make([]float64, n)
		for i := range times {
			times[i] = 3e-4 * math.Exp(0.05*rng.ExpFloat64())
		}
		r := NewRun(times)
		// Harrell and Davis: of resamples, the mean of the order statistic at (n+1)·FastEnd,
		// between two where that is no whole number.
		const resamples = 40000
		at := FastEnd * float64(n+1)
		var sum, square float64
		for range resamples {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Log(times[rng.IntN(n)])
			}
			slices.Sort(x)
			k := int(at) + 1 // rank from 1, the larger of both
			if rng.Float64() >= at-math.Floor(at) {
				k--
			}
			v := x[max(k, 1)-1]
			sum += v
			square += v * v
		}
		mean := sum / resamples
		deviation := math.Sqrt(square/resamples - mean*mean)
		if math.Abs(r.Figure-mean) > 0.2*deviation || r.Error < 0.8*deviation || r.Error > 1.25*deviation || r.Samples != n {
			t.Errorf("%d samples: figure %g ± %g, resampled %g ± %g", n, r.Figure, r.Error, mean, deviation)
		}
	}
	if r := NewRun([]float64{2}); r.Error != 0 || math.Abs(r.Figure-math.Log(2)) > 1e-12 {
		t.Errorf("one sample: %+v", r)
	}
}

// TestAdjust has the example of Benjamini and Hochberg (1995), section 3.2: at 5 % the
// four smallest of fifteen are discoveries.
func TestAdjust(t *testing.T) {
	p := []float64{0.6528, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.7590, 1}
	found := 0
	for i, rate := range Adjust(p) {
		if rate < p[i] || rate > 1 {
			t.Errorf("%g becomes %g", p[i], rate)
		}
		if rate <= 0.05 {
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d discoveries, want 4", found)
	}
	if got := Adjust([]float64{0.04, 0.01}); got[0] != 0.04 || got[1] != 0.02 {
		t.Errorf("%v", got)
	}
}

// TestCompareTurns_AllSwaps holds p to the count over all ways in which pairs could be
// swapped.
func TestCompareTurns_AllSwaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 6 {
		const n = 9
		pairs := make([]Pair, n)
		for i := range pairs {
			for range 5 {
				pairs[i].Old = append(pairs[i].Old, 0.1*rng.NormFloat64())
				pairs[i].New = append(pairs[i].New, 0.1*rng.NormFloat64()+0.04*float64(trial))
			}
		}
		d, q, ok := CompareTurns(pairs, 7, 1)
		l := newTurns(pairs)
		l.shift(0)
		out := 0
		for bits := range 1 << n {
			swapped := l.noSwap() // turns are of one size: samples of a side are as many
			for i := range n {
				if bits>>i&1 == 1 {
					swapped.side[2*i], swapped.side[2*i+1] = 1, 0
				}
			}
			if math.Abs(l.difference(swapped, q)) >= math.Abs(d.Log)-1e-12 {
				out++
			}
		}
		want := float64(out) / (1 << n)
		if !ok || math.Abs(d.P-want) > 0.3*want+0.002 {
			t.Errorf("trial %d: p %g, of all swaps %g", trial, d.P, want)
		}
		if (d.P < 0.045) != (d.Lo > 0 || d.Hi < 0) && math.Abs(d.P-0.05) > 0.02 || d.Lo > d.Lo90 || d.Hi < d.Hi90 {
			t.Errorf("trial %d: p %g and %g to %g do not agree", trial, d.P, d.Lo, d.Hi)
		}
		old, new := SidesAt(pairs, q)
		if math.Abs(math.Log(old/new)-d.Log) > 1e-9 {
			t.Errorf("trial %d: %g and %g, difference %g", trial, old, new, d.Log)
		}
	}
}

// TestCompareTurns_Few: what too few pairs cannot tell has no end.
func TestCompareTurns_Few(t *testing.T) {
	pair := Pair{[]float64{1, 1.1}, []float64{2, 2.1}}
	d, _, ok := CompareTurns([]Pair{pair, pair, {Old: []float64{1}}}, 1, 1)
	if !ok || !math.IsInf(d.Lo, -1) || !math.IsInf(d.Hi, 1) || d.P < 0.3 {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, _, ok := CompareTurns([]Pair{{Old: []float64{1}}}, 1, 1); ok {
		t.Error("a pair of one turn is compared")
	}
}
