package aot

import (
	"testing"

	"matladder/lower/triton"
	"matladder/tile"
)

// TestGPUBarriers: where a kernel reads back what it has stored, threads wait in the code of
// the machine as well, once for each barrier of the text: nothing else there needs one.
func TestGPUBarriers(t *testing.T) {
	c := openGPU(t)
	b := tile.New("read_back")
	at := tile.Block(64, 64).At(b.Axis("i", 2, tile.Parallel), tile.Const(0))
	x := b.In("x", tile.Float32, tile.Array(128, 64), at)
	o, p := b.Out("o", tile.Float32, tile.Array(128, 64), at), b.Out("p", tile.Float32, tile.Array(128, 64), at)
	b.Store(o, x)
	b.Accumulate(o, x)
	b.Store(p, o)
	b.Store(o, x)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	launch, err := triton.Lower(programs, triton.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a100", "h100"} {
		t.Run(name, func(t *testing.T) {
			g, err := FindGPU(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Compile(t.Context(), g, launch.Module())
			if err != nil {
				t.Fatal(err)
			}
			k := got.Kernels[0]
			if !k.Disassembled || k.Instructions["BAR"] != 4 {
				t.Errorf("%d barriers, want 4: %v", k.Instructions["BAR"], k.Instructions)
			}
		})
	}
}
