package backendtest

import (
	"testing"

	"matladder/backend"
	"matladder/tile"
)

// Outputs loads inputs, in the order of tile.Bind, runs what programs were compiled to
// once and returns the outputs by name.
func Outputs(t *testing.T, e backend.Executable, programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]tile.Tensor{}
	for i, out := range (suite{}).run(t, e, programs, in, 1) {
		named[bound.Out[i].Name] = out
	}
	return named
}
