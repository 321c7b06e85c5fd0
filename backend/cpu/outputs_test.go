package cpu

import (
	"testing"

	"matladder/backend"
	"matladder/tile"
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
