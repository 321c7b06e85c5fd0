package cpu

import (
	"slices"
	"testing"

	"matladder/backend"
)

// inTurns runs each of some executables once a round, and has the seconds of each.
func inTurns(b *testing.B, launches []backend.Executable) [][]float64 {
	b.Helper()
	run := func(e backend.Executable) float64 {
		x, err := e.Run(b.Context(), 1)
		if err != nil {
			b.Fatal(err)
		}
		return x.Elapsed.Seconds()
	}
	for _, e := range launches { // memory is there once it is written
		run(e)
	}
	seconds := make([][]float64, len(launches))
	for b.Loop() {
		for i, e := range launches {
			seconds[i] = append(seconds[i], run(e))
		}
	}
	return seconds
}

// times is how many times as long x took as y, in the median of rounds.
func times(x, y []float64) float64 {
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = x[i] / y[i]
	}
	return median(ratios)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
