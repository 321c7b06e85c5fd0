package aot

import (
	"testing"

	"matladder/analyze"
	"matladder/backend"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestPrefetch: on every generation libtpu brings the largest input of a kernel ahead of a
// launch where it is let, and only there; what the first step waits for is then the other's
// block, or on a v4, from the memory between, the larger of the two.
func TestPrefetch(t *testing.T) {
	b := openBackend(t, "v5e", t.TempDir())
	blocks := tile.Blocks{M: 512, K: 512, N: 256}
	for _, p := range []problem.Matmul{problem.New(512, 512, 512, tile.BFloat16), problem.New(512, 512, 1024, tile.BFloat16)} {
		programs, err := kernels.All[4].Build(p, "", blocks)
		if err != nil {
			t.Fatal(err)
		}
		ofA, ofB := int64(2*blocks.M*blocks.K), int64(2*blocks.K*blocks.N)
		largest, first := "a", ofB
		if p.N > p.M {
			largest, first = "b", ofA
		}
		for _, top := range Topologies() {
			if err := b.aim(top.Name); err != nil {
				t.Fatal(err)
			}
			between := top.Name == "v4"
			if between {
				first = max(ofA, ofB)
			}
			steps, err := b.Steps(t.Context(), programs, backend.Params{Prefetch: true})
			if err != nil {
				t.Fatalf("%s, %s: %v", top.Name, p, err)
			}
			want, err := analyze.WorkOf(programs[0], analyze.Near{Name: largest, Between: between})
			if err != nil {
				t.Fatal(err)
			}
			if have := steps[0].Work; len(steps) != 1 || have.Bytes != want.Bytes || have.FirstBytes != want.FirstBytes || have.FirstBytes != first {
				t.Errorf("%s, %s: moves %d bytes, waits for %d, want %d and %d", top.Name, p, have.Bytes, have.FirstBytes, want.Bytes, first)
			}
			if between {
				first = ofB
				if largest == "b" {
					first = ofA
				}
			}
		}
	}
}
