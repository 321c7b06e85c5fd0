package passes

import (
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	quantized "matladder/kernels/v5_quant"
	"matladder/problem"
	"matladder/tile"
)

// TestPlacement_Alone: workers share the blocks of b where what one has packed comes to the
// others at once, and pack each their own where that takes long; a b of which the copies do
// not fit the last-level cache they share in any case.
func TestPlacement_Alone(t *testing.T) {
	near := tile.Sharing{Line: 1e-12, ReadOthers: 1e15, WriteOthers: 1e15}
	far := tile.Sharing{Line: 1e-3, ReadOthers: 1e6, WriteOthers: 1e6}
	wide := max(probe.Host().L3, 1<<20) / 256 / 4 / 4 * 8 // columns of float32: 4 copies are twice that cache
	for _, test := range []struct {
		name    string
		sharing tile.Sharing
		n       int
		blocks  tile.Blocks
		why     string
	}{
		{"near", near, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAll},
		{"far", far, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAlone},
		{"one row of blocks", far, 256, tile.Blocks{M: 256, K: 256, N: 128}, plan.WhyAll},
		{"large", far, wide, tile.Blocks{M: 128, K: 256, N: wide / 2}, plan.WhyAll},
		{"unknown", tile.Sharing{}, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAll},
	} {
		programs, err := quantized.Kernel{}.Build(problem.New(256, 256, test.n, tile.Float32), "", test.blocks)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(programs[0], plan.Machine{
			Kernels: gemm.For(gemm.Detect()), Workers: 4, CacheBytes: 1 << 30, OwnBytes: 1 << 40,
			Measures: true, Sharing: func() tile.Sharing { return test.sharing },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range p.Operands {
			if o.IsB && o.Why != test.why && test.name != "one row of blocks" {
				t.Errorf("%s: b is kept as %q, want %q", test.name, o.Why, test.why)
			}
			if o.IsB && o.Why == plan.WhyAlone && (o.Keep != plan.KeepOwn || o.Slots != 2 || test.name == "one row of blocks") {
				t.Errorf("%s: %d slots, kept %v", test.name, o.Slots, o.Keep)
			}
		}
	}
}
