package cpu

import (
	"bytes"
	"context"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// TestMerge: which products go into the values that read them. What they are then
// is what they were before.
func TestMerge(t *testing.T) {
	type refs struct {
		*tile.Builder
		o, acc, c *tile.Ref
		product   *tile.Expr
		k         *tile.Axis
	}
	for _, c := range []struct {
		name   string
		k      int // programs along k
		write  func(r refs)
		merged bool
	}{
		{"one step of k", 1, func(r refs) {
			r.When(r.k.First(), func() { r.Fill(r.acc, 0) })
			r.Accumulate(r.acc, r.product)
			r.When(r.k.Last(), func() { r.Store(r.o, tile.Max(tile.Mul(r.acc, r.c), r.acc)) })
		}, true},
		{"a store", 1, func(r refs) { r.Store(r.acc, r.product); r.Store(r.o, r.acc) }, true},
		{"two steps of k", 2, func(r refs) {
			r.When(r.k.First(), func() { r.Fill(r.acc, 0) })
			r.Accumulate(r.acc, r.product)
			r.When(r.k.Last(), func() { r.Store(r.o, r.acc) })
		}, false},
		{"more than the product", 1, func(r refs) { r.Store(r.acc, tile.Neg(r.product)); r.Store(r.o, r.acc) }, false},
		{"sums of rows", 1, func(r refs) { r.Store(r.acc, r.product); r.Store(r.o, tile.Sub(r.acc, tile.RowSum(r.acc))) }, false},
		{"another reader", 1, func(r refs) {
			r.Store(r.acc, r.product)
			r.Store(r.o, r.acc)
			r.Accumulate(r.o, r.acc)
		}, false},
		{"another writer", 1, func(r refs) {
			r.Fill(r.acc, 1)
			r.Accumulate(r.acc, r.product)
			r.Store(r.o, r.acc)
		}, false},
		{"something in between", 1, func(r refs) {
			r.Store(r.acc, r.product)
			r.Fill(r.o, 1)
			r.Accumulate(r.o, r.acc)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("merge")
			i := b.Axis("i", 2, tile.Parallel)
			k := b.Axis("k", c.k, tile.Arbitrary)
			zero := tile.Const(0)
			x := b.In("a", tile.Float32, tile.Array(7, 4*c.k), tile.Block(4, 4).At(i, k))
			y := b.In("b", tile.Float32, tile.Array(4*c.k, 6), tile.Block(4, 6).At(k, zero))
			scale := b.In("c", tile.Float32, tile.Array(1, 6), tile.Block(1, 6).At(zero, zero))
			o := b.Out("o", tile.Float32, tile.Array(7, 6), tile.Block(4, 6).At(i, zero))
			acc := b.Scratch("acc", tile.Float32, 4, 6)
			c.write(refs{b, o, acc, scale, tile.Dot(x, y), k})
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			p, err := passes.Compile(programs[0], plan.Machine{Kernels: gemm.For(gemm.Generic), Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if merged := p.Refs[p.Number(acc)].Merged; merged != c.merged || merged != (p.Scratch[p.Number(acc)].Size == 0) {
				t.Errorf("merged %v, %d bytes of scratch; want %v", merged, p.Scratch[p.Number(acc)].Size, c.merged)
			}
			in := tiletest.Inputs(programs[0], 1)
			want, err := interp.Run(context.Background(), programs, in)
			if err != nil {
				t.Fatal(err)
			}
			same(t, want, outputs(t, Options{Threads: 2}, programs, in))
		})
	}
}

// outputs are what programs compute.
func outputs(t *testing.T, o Options, programs []*tile.Program, in []tile.Tensor) []tile.Tensor {
	t.Helper()
	be, ctx := open(t, o)(), context.Background()
	defer be.Close()
	e, err := be.Compile(ctx, programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(ctx, 2); err != nil {
		t.Fatal(err)
	}
	return outputsOf(t, e, programs)
}

// same wants equal bits.
func same(t *testing.T, want, got []tile.Tensor) {
	t.Helper()
	for i, w := range want {
		if bytes.Equal(got[i].Data, w.Data) {
			continue
		}
		for j := range w.Len() {
			if w.At(j) != got[i].At(j) {
				t.Fatalf("output %d: element %d is %v, want %v", i, j, got[i].At(j), w.At(j))
			}
		}
		t.Errorf("output %d: zeros of other signs", i)
	}
}
