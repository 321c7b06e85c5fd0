package tune

import (
	"math"
	"slices"

	"matladder/tile"

	"golang.org/x/perf/benchmath"
)

const confidence = 0.95

// ratio is the median of the ratios of paired samples, with its interval; sure if
// that reaches the confidence.
func ratio(a, b []float64) (center, lo, hi float64, sure bool) {
	n := min(len(a), len(b))
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	s := interval(ratios)
	if n < enoughRounds || math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return s.Center, ratios[0], ratios[n-1], false
	}
	return s.Center, s.Lo, s.Hi, s.Confidence >= confidence
}

// summary is the median of a sample with its interval, or where there are too few
// for one with the least and the most.
func summary(sample []float64) (center, lo, hi float64) {
	s := interval(sample)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return s.Center, slices.Min(sample), slices.Max(sample)
	}
	return s.Center, s.Lo, s.Hi
}

// interval is the median of a sample and its interval.
func interval(sample []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(sample), &benchmath.DefaultThresholds), confidence)
}

// runnerUp is the fastest beside the winner, and how far it is behind.
func runnerUp(winner tile.Blocks, tried map[tile.Blocks]float64) (second tile.Blocks, behind float64) {
	for b, ratio := range tried {
		if d := round(ratio - 1); b != winner && (second == (tile.Blocks{}) || d < behind || d == behind && b.String() < second.String()) {
			second, behind = b, d
		}
	}
	return second, behind
}

// round leaves four digits after the point: more is noise.
func round(ratio float64) float64 { return math.Round(ratio*1e4) / 1e4 }
