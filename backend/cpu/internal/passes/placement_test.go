package passes

import (
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	quantized "matladder/kernels/v5_quant"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// figures are handed to passes, as if measured.
type figures struct {
	sharing machine.CoreToCore
	reads   map[gemm.ReadB]gemm.ReadCost
}

func (f figures) CoreToCore() machine.CoreToCore { return f.sharing }

func (f figures) ReadCosts(*plan.Product, int, int64, int, int) map[gemm.ReadB]gemm.ReadCost {
	return f.reads
}

// TestPlacement_Alone: workers share the blocks of b where what one has packed comes to the
// others at once, and pack each their own where that takes long; a b of which the copies do
// not fit the last-level cache they share in any case.
func TestPlacement_Alone(t *testing.T) {
	near := machine.CoreToCore{Line: 1e-12, ReadOthers: 1e15, WriteOthers: 1e15}
	far := machine.CoreToCore{Line: 1e-3, ReadOthers: 1e6, WriteOthers: 1e6}
	const l3 = 8 << 20
	const wide = l3 / 256 / 4 / 4 * 8 // columns of float32: 4 copies are twice that cache
	reads := map[gemm.ReadB]gemm.ReadCost{gemm.ReadPacked: {Pack: 1e-10, Multiply: 1e-9}}
	for _, test := range []struct {
		name    string
		sharing machine.CoreToCore
		n       int
		blocks  tile.Blocks
		why     string
	}{
		{"near", near, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAll},
		{"far", far, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAlone},
		{"one row of blocks", far, 256, tile.Blocks{M: 256, K: 256, N: 128}, plan.WhyAll},
		{"large", far, wide, tile.Blocks{M: 128, K: 256, N: wide / 2}, plan.WhyAll},
		{"unknown", machine.CoreToCore{}, 256, tile.Blocks{M: 128, K: 256, N: 128}, plan.WhyAll},
	} {
		programs, err := quantized.Kernel.Build(problem.New(256, 256, test.n, tile.Float32), "", test.blocks)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(programs[0], plan.Machine{
			Kernels: gemm.For(gemm.Detect()), Workers: 4, CacheBytes: 1 << 30, OwnBytes: 1 << 40,
			L3: l3, Figures: figures{test.sharing, reads},
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
