package cpu

import (
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/check"
	"matladder/kernels/rope/ropetest"
	"matladder/problem"
	"matladder/tile"
)

// TestRope_Bits: each product and each sum is rounded to float32, and o once more.
func TestRope_Bits(t *testing.T) {
	be := open(t, Options{Threads: 2})()
	ropetest.Each(t, func(t *testing.T, p problem.Rope, programs []*tile.Program) {
		e, err := be.Compile(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		in, err := check.Inputs(t.Context(), p, programs, 3, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		o := backendtest.Outputs(t, e, programs, in)["o"]
		ropetest.Compare(t, p, in[0], o, func(x float64) float64 { return float64(float32(x)) })
	})
}
