package passes

import (
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// TestFuse: which fills go into the accumulation behind them.
func TestFuse(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr)
		steps int // left at the top
		fused bool
	}{
		{"zero at the first step", func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr) {
			t.When(k.First(), func() { t.Fill(o, 0) })
			t.Accumulate(o, product)
		}, 1, true},
		{"another number", func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr) {
			t.When(k.First(), func() { t.Fill(o, 1) })
			t.Accumulate(o, product)
		}, 2, false},
		{"two statements in the condition", func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr) {
			t.When(k.First(), func() { t.Fill(o, 0); t.Fill(o, 0) })
			t.Accumulate(o, product)
		}, 2, false},
		{"the value reads what was filled", func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr) {
			t.When(k.First(), func() { t.Fill(o, 0) })
			t.Accumulate(o, tile.Add(product, o))
		}, 2, false},
		{"something in between", func(t *tile.Builder, k *tile.Axis, o *tile.Ref, product *tile.Expr) {
			t.When(k.First(), func() { t.Fill(o, 0) })
			t.When(k.Last(), func() { t.Accumulate(o, product) })
			t.Accumulate(o, product)
		}, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("fuse")
			k := b.Axis("k", 2, tile.Arbitrary)
			zero := tile.Const(0)
			x := b.In("a", tile.Float32, tile.Array(4, 8), tile.Block(4, 4).At(zero, k))
			y := b.In("b", tile.Float32, tile.Array(8, 4), tile.Block(4, 4).At(k, zero))
			o := b.Out("o", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero))
			c.write(b, k, o, tile.Dot(x, y))
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile(programs[0], plan.Machine{Kernels: gemm.For(gemm.Generic), Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			last := p.Steps[len(p.Steps)-1]
			if len(p.Steps) != c.steps || (last.Zeroed != nil) != c.fused {
				t.Errorf("%d steps, fused %v; want %d, %v", len(p.Steps), last.Zeroed != nil, c.steps, c.fused)
			}
		})
	}
}
