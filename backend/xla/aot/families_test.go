package aot

import (
	"errors"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestFamilies compiles every rung of families, in all
// that they spell out and of sizes as in models, for one generation; for all with
// MATLADDER_TESTS=full.
func TestFamilies(t *testing.T) {
	c, run := open(t, Options{}), thoroughtest.Choose(1, 11, 11)
	for _, in := range []struct {
		family *problem.Family
		shapes []problem.Sizes
	}{
		{problem.NormFamily, []problem.Sizes{{256, 4096}, {100, 1000}}},
		{problem.RopeFamily, []problem.Sizes{{512, 4, 128, 1}, {100, 2, 128, 2}}},
		{problem.GroupedFamily, []problem.Sizes{{512, 512, 384, 8}}},
		{problem.MLPFamily, []problem.Sizes{{256, 512, 384}, {100, 300, 200}}},
	} {
		f := in.family
		for _, words := range append(append([]string(nil), f.Dtypes...), f.Examples...) {
			asked, err := f.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			for _, sizes := range in.shapes {
				p := f.Make(sizes, asked)
				for _, k := range kernels.Ladder(f) {
					if k.Supports(p) != nil {
						continue
					}
					programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 64, K: 256, N: 128}))
					if err != nil {
						t.Fatal(err)
					}
					for _, top := range Topologies() {
						if top.Name != "v5e" && !thoroughtest.Full() || !run() {
							continue
						}
						t.Run(fmt.Sprintf("%s/%s/%s/%s", words, p, k.Name(), top.Name), func(t *testing.T) {
							_, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{})
							if k.Name() == "v3_starts" { // its blocks overlap
								if !errors.Is(err, backend.ErrUnsupported) {
									t.Errorf("compiled: %v", err)
								}
							} else if err != nil {
								t.Error(err)
							}
						})
					}
				}
			}
		}
	}
}
