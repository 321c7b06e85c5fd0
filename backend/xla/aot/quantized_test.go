package aot

import (
	"errors"
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestQuantized compiles quantizations and variants of the rungs with scales, ragged
// and with several groups of k in a block, for v5e and v4: some of them by default, all with
// MATLADDER_TESTS=all; for every generation with MATLADDER_TESTS=full. What v4 lacks it refuses.
func TestQuantized(t *testing.T) {
	c := open(t, Options{})
	problems := problemtest.Quantized(1, 300, 1200, 500, 128)
	problems = append(problems, problemtest.Quantized(3, 128, 512, 256, 128)...)
	chosen := thoroughtest.Choose(1, 3, 7)
	for _, p := range problems {
		for _, variant := range problemtest.Kernel(p).Variants(p) {
			programs, err := problemtest.Kernel(p).Build(p, variant, tile.Blocks{M: 128, K: 512, N: 256})
			if err != nil {
				t.Fatal(err)
			}
			a, _ := p.Factors()
			wide := variant == "decoded" || a == tile.Float4E2M1FN || p.B == tile.Float4E2M1FN // or widened
			narrow := a.Bits() <= 8 && !wide
			for _, top := range Topologies() {
				if full := thoroughtest.Full(); !full && top.Name != "v5e" && top.Name != "v4" || !chosen() {
					continue
				}
				t.Run(fmt.Sprintf("%s %s/%s", problemtest.Label(p), variant, top.Name), func(t *testing.T) {
					_, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{})
					if top.Name == "v4" && narrow {
						if !errors.Is(err, backend.ErrUnsupported) {
							t.Errorf("%v, want unsupported", err)
						}
						return
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
