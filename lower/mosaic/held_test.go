package mosaic_test

import (
	"strings"
	"testing"

	"matladder/check"
	flash "matladder/kernels/attention/v3_flash"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestHeld: what a step of attention computes of two pieces of keys goes through no memory but
// where the next step reads it. Scores and the next largest one are no arguments; the largest
// is loaded and stored once, and stored before the first step; sums are loaded and stored for
// each piece.
func TestHeld(t *testing.T) {
	p := problem.Self(32, 16, tile.Float32)
	programs, err := flash.Kernel.Build(p, "", tile.Blocks{M: 16, K: 16, N: 8})
	if err != nil {
		t.Fatal(err)
	}
	l, err := mosaic.Lower(programs, mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	body := l.Kernels[0].Body
	for ref, want := range map[string][2]int{"s": {0, 0}, "next": {0, 0}, "top": {1, 2}, "sum": {3, 3}, "acc": {3, 3}} {
		loads := strings.Count(body, "vector.load\"(%"+ref+",")
		stores := 0
		for _, line := range strings.Split(body, "\n") {
			if _, to, is := strings.Cut(line, "vector_store\"("); is && strings.Contains(to, ", %"+ref+",") {
				stores++
			}
		}
		if loads != want[0] || stores != want[1] {
			t.Errorf("%s: %d loads and %d stores, want %v", ref, loads, stores, want)
		}
		if is := strings.Contains(body, "%"+ref+": memref"); is != (want[1] > 0) {
			t.Errorf("%s: an argument: %v", ref, is)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
	in, err := check.Inputs(t.Context(), p, programs, 5, check.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := check.Verify(t.Context(), p, programs, in, runText(t, programs, in)["o"]); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestHeld_Memory: what is held is in memory wherever memory is read: a part of it at a place
// that is known later, in a region, in a loop that is not written out, behind one that may
// have changed it, and in the next step.
func TestHeld_Memory(t *testing.T) {
	b := tile.New("held")
	i := b.Axis("i", 3, tile.Arbitrary)
	x := b.In("x", tile.Float32, tile.Array(48, 128), tile.Block(16, 128).At(i, tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(48, 128), tile.Block(16, 128).At(i, tile.Const(0)))
	kept := b.Scratch("kept", tile.Float32, 16, 128)
	part := b.Scratch("part", tile.Float32, 8, 128)
	gone := b.Scratch("gone", tile.BFloat16, 16, 128)
	b.When(i.First(), func() { b.Fill(kept, 1) })
	b.Store(gone, tile.Cast(tile.Mul(x, kept), tile.BFloat16)) // rounds
	b.Fill(part, 0)
	b.Loop("wide", 65, func(at *tile.Axis) {
		b.Store(part, tile.Max(part, tile.Slice(kept, 0, tile.Times(tile.Mod(at, 2), 8), 8)))
	})
	b.Store(kept, tile.Sub(x, tile.Cast(gone, tile.Float32)))
	b.When(tile.Test(i, tile.GE, tile.Const(1)), func() {
		b.Store(kept, tile.Max(kept, x))
		b.Store(part, tile.Mul(part, tile.Slice(kept, 0, tile.Const(8), 8)))
	})
	b.Store(o, tile.Mul(kept, tile.Concat(0, part, part)))
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	in := []tile.Tensor{tile.NewTensor(tile.Float32, 48, 128)}
	for e := range in[0].Len() {
		in[0].Set(e, float64(e%37)/3-5)
	}
	want, err := interp.Run(t.Context(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	got := runText(t, programs, in)["o"]
	for e := range want[0].Len() {
		if w, g := want[0].At(e), got.At(e); w != g {
			t.Fatalf("element %d is %v, should be %v", e, g, w)
		}
	}
}
