package seeded

import (
	"slices"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// TestReferences: the one that was asked for longest ago goes, and outputs are compared with
// that of their own inputs.
func TestReferences(t *testing.T) {
	p := problem.New(8, 8, 8, tile.Float32)
	r := Keep(2, false)
	outputs := map[uint64]map[string]tile.Tensor{}
	for i, seed := range []uint64{1, 2, 1, 3, 1, 2} {
		spec := backend.InputSpec{Problem: p, Seed: seed, Dist: check.Normal}
		in := map[string]tile.Tensor{}
		for _, name := range []string{"a", "b"} {
			in[name] = tile.NewTensor(tile.Float32, 8, 8)
			if err := check.Fill(t.Context(), in[name], name, p, seed, check.Normal); err != nil {
				t.Fatal(err)
			}
		}
		out := tile.NewTensor(tile.Float32, 8, 8)
		for row := range 8 {
			for col := range 8 {
				sum := 0.0
				for k := range 8 {
					sum += in["a"].At(row*8+k) * in["b"].At(k*8+col)
				}
				out.Set(row*8+col, sum)
			}
		}
		outputs[seed] = map[string]tile.Tensor{"o": out}
		for of, o := range outputs {
			result, err := r.verify(t.Context(), referenceKey{InputSpec: spec}, nil, in, o)
			if err != nil || result.OK != (of == seed) {
				t.Errorf("output of seed %d with inputs of %d: %+v, %v", of, seed, result, err)
			}
		}
		var seeds []uint64
		for _, k := range r.last {
			seeds = append(seeds, k.Seed)
		}
		if want := [][]uint64{{1}, {2, 1}, {1, 2}, {3, 1}, {1, 3}, {2, 1}}[i]; !slices.Equal(seeds, want) {
			t.Errorf("keeps the references of %v, want %v", seeds, want)
		}
	}
}
