package interp_test

import (
	"testing"

	"matladder/problem/problemtest"
	"matladder/tile"
	"matladder/tile/interp"
)

// named runs programs and names what comes out.
func named(t *testing.T, programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	out, err := interp.Run(t.Context(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]tile.Tensor{}
	for i, r := range bound.Out {
		list[r.Name] = out[i]
	}
	return list
}

// TestNumbers: numbers are right from the smallest to the largest.
func TestNumbers(t *testing.T) {
	run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor { return named(t, programs, in) }
	problemtest.Numbers(t, 0, false, run)
}
