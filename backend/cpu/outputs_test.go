package cpu

import (
	"testing"

	"matladder/backend"
	"matladder/tile"
	"matladder/tile/interp"
)

// outputsOf returns what an executable has put out, output by output of its programs.
func outputsOf(t *testing.T, e backend.Executable, programs []*tile.Program) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	var out []tile.Tensor
	for _, r := range bound.Out {
		out = append(out, tile.NewTensor(r.Dtype, r.Array...))
	}
	if err := e.Results(out...); err != nil {
		t.Fatal(err)
	}
	return out
}

// runsAsInterp holds what an executable computes of inputs to interp, to the bit.
func runsAsInterp(t *testing.T, e backend.Executable, programs []*tile.Program, in []tile.Tensor) {
	t.Helper()
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	want, err := interp.Run(t.Context(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, outputsOf(t, e, programs))
}
