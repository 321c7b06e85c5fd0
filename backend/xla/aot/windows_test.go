package aot

import (
	"testing"

	"matladder/backend/internal/hlo"
	"matladder/internal/thoroughtest"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// TestMovedBy: products that libtpu 0.0.51 has cut, and windows of other arrays.
func TestMovedBy(t *testing.T) {
	const mb = 1 << 20
	for _, x := range []struct {
		name    string
		m, k, n int
		w       hlo.Windows
		at      [2]place
		want    moved
		ok      bool
	}{
		{"rows that end inside a window", 8192, 8192, 8192,
			hlo.Windows{Left: [2]int64{147, 64}, Right: [2]int64{1024, 8}, Out: [2]int64{147, 8}, Blocks: [3]int64{8, 7, 1}}, [2]place{},
			moved{2*1176*8192 + 16*mb, 2 * 1176 * 1024, 128 * mb * (1 + 1 + 7)}, true},
		{"k in pieces", 8192, 8192, 8192,
			hlo.Windows{Left: [2]int64{171, 16}, Right: [2]int64{256, 16}, Out: [2]int64{171, 16}, Blocks: [3]int64{4, 6, 4}}, [2]place{},
			moved{13991936, 5603328, 128 * mb * (1 + 4 + 6)}, true},
		{"the right factor ahead", 2048, 8192, 4096,
			hlo.Windows{Left: [2]int64{32, 64}, Right: [2]int64{1024, 8}, Out: [2]int64{32, 8}, Blocks: [3]int64{4, 8, 1}}, [2]place{inMain, inVMEM},
			moved{4 * mb, mb / 2, (16 + 32 + 64) * mb}, true},
		{"the right factor in the memory between", 2048, 8192, 4096,
			hlo.Windows{Left: [2]int64{32, 64}, Right: [2]int64{1024, 8}, Out: [2]int64{32, 8}, Blocks: [3]int64{4, 8, 1}}, [2]place{inMain, between},
			moved{16 * mb, mb / 2, (16 + 4*32 + 64) * mb}, true},
		{"all of the left factor", 2048, 2048, 2048,
			hlo.Windows{Left: [2]int64{256, 16}, Right: [2]int64{256, 4}, Out: [2]int64{256, 4}, Blocks: [3]int64{4, 1, 1}}, [2]place{},
			moved{10 * mb, 2 * mb, 24 * mb}, true},
		{"windows of another product", 4096, 8192, 8192,
			hlo.Windows{Left: [2]int64{147, 64}, Right: [2]int64{1024, 8}, Out: [2]int64{147, 8}, Blocks: [3]int64{8, 7, 1}}, [2]place{}, moved{}, false},
	} {
		have, ok := movedBy(problem.New(x.m, x.k, x.n, tile.BFloat16), x.w, x.at)
		if have != x.want || ok != x.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", x.name, have, ok, x.want, x.ok)
		}
	}
}

// TestWindows: the windows that libtpu notes of a product are blocks of its arrays, and as
// many bytes as its schedule says that a step brings: on some generations, or on all with
// MATLADDER_TESTS=all.
func TestWindows(t *testing.T) {
	p := problem.New(1024, 2048, 4096, tile.BFloat16)
	launch, err := stablehlo.Baseline(p)
	if err != nil {
		t.Fatal(err)
	}
	b := openBackend(t, "v5e", t.TempDir())
	chosen := thoroughtest.Choose(1, 3, 3)
	for _, top := range Topologies() {
		if !chosen() {
			continue
		}
		if err := b.aim(top.Name); err != nil {
			t.Fatal(err)
		}
		o, err := b.compile(t.Context(), launch.Once(), nil, false, func(c *Compiled, _ *hlo.Module, o *outcome) (err error) {
			o.Parts, err = partsOf(c.Schedules, nil, b.device.Cores)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var at [2]place
		for _, n := range o.Residents {
			at[n.Parameter] = placeOf(n)
		}
		if len(o.Parts) != 1 || len(o.Windows) != 1 || o.Windows[0].Kernel != o.Parts[0].Kernel {
			t.Errorf("%s: parts %+v, windows %+v", top.Name, o.Parts, o.Windows)
			continue
		}
		have, ok := movedBy(p, o.Windows[0], at)
		if brought := o.Parts[0].In * b.topology.granule; !ok || brought > 0 && top.Name != "v4" && brought != have.first {
			t.Errorf("%s: windows %+v are %+v, %v; a step brings %d bytes", top.Name, o.Windows[0], have, ok, brought)
		}
		if written := o.Parts[0].Out * b.topology.granule; written > 0 && written != have.last {
			t.Errorf("%s: windows %+v are %+v; a step writes %d bytes", top.Name, o.Windows[0], have, written)
		}
	}
}
