package rope_test

import (
	"testing"

	"matladder/check"
	"matladder/kernels/rope/ropetest"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestBits: every rung means two products and a sum, pair by pair, and nothing is rounded
// but o.
func TestBits(t *testing.T) {
	ropetest.Each(t, func(t *testing.T, p problem.Rope, programs []*tile.Program) {
		in, err := check.Inputs(t.Context(), p, programs, 3, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		out, err := interp.Run(t.Context(), programs, in)
		if err != nil {
			t.Fatal(err)
		}
		ropetest.Compare(t, p, in[0], out[0], func(x float64) float64 { return x })
	})
}
