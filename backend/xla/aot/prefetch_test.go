package aot

import (
	"testing"

	"matladder/backend"
	"matladder/kernels"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// TestPrefetch: on every generation libtpu brings the largest input of a kernel ahead of a
// launch where it is let, and only there; of equals it brings a, or on a v4, where blocks come
// from the memory between, the one that moves more. What the first step waits for is then the
// other's block, or on a v4 the larger of the two.
func TestPrefetch(t *testing.T) {
	b := openBackend(t, "v5e", t.TempDir())
	for _, c := range []struct {
		n      int
		blocks tile.Blocks
		ahead  string
		v4     string
	}{
		{512, tile.Blocks{M: 512, K: 512, N: 256}, "a", "a"},
		{512, tile.Blocks{M: 256, K: 512, N: 128}, "a", "b"}, // b moves twice
		{1024, tile.Blocks{M: 512, K: 512, N: 256}, "b", "b"},
	} {
		p := problem.New(512, 512, c.n, tile.BFloat16)
		programs, err := kernels.All[4].Build(p, "", c.blocks)
		if err != nil {
			t.Fatal(err)
		}
		ofA, ofB := int64(2*c.blocks.M*c.blocks.K), int64(2*c.blocks.K*c.blocks.N)
		for _, top := range Topologies() {
			if err := b.aim(top.Name); err != nil {
				t.Fatal(err)
			}
			between := top.Name == "v4"
			ahead, first := c.ahead, ofB
			if ahead == "b" {
				first = ofA
			}
			if between {
				ahead, first = c.v4, max(ofA, ofB)
			}
			steps, err := b.Steps(t.Context(), programs, backend.Params{Prefetch: true})
			if err != nil {
				t.Fatalf("%s, %s: %v", top.Name, p, err)
			}
			want, err := model.WorkOf(programs[0], model.Resident{Name: ahead, Between: between})
			if err != nil {
				t.Fatal(err)
			}
			if have := steps[0].Work; len(steps) != 1 || have.Bytes != want.Bytes || have.FirstBytes != want.FirstBytes || have.FirstBytes != first {
				t.Errorf("%s, %s: moves %d bytes, waits for %d, want %d and %d", top.Name, p, have.Bytes, have.FirstBytes, want.Bytes, first)
			}
		}
	}
}
