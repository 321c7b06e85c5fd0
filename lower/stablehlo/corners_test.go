package stablehlo_test

import (
	"testing"

	"matladder/tile"
)

// corners are programs for what random ones do not reach.
var corners = map[string]func(b *tile.Builder){
	// The padding of a stands behind x, which must not be masked with it.
	"concat in a contraction": func(b *tile.Builder) {
		zero := tile.Const(0)
		x := b.In("x", tile.Float32, tile.Array(3, 4), tile.Block(3, 4).At(zero, zero))
		a := b.In("a", tile.Float32, tile.Array(3, 2), tile.Block(3, 8).At(zero, zero))
		w := b.In("w", tile.Float32, tile.Array(12, 5), tile.Block(12, 5).At(zero, zero))
		o := b.Out("o", tile.Float32, tile.Array(3, 5), tile.Block(3, 5).At(zero, zero))
		b.Store(o, tile.Dot(tile.Concat(1, x, tile.Slice(a, 1, tile.Const(4), 4), tile.Slice(a, 1, zero, 4)), w))
	},
	// Memory of bfloat16 rounds what is stored there and read back.
	"rounding in scratch": func(b *tile.Builder) {
		x := b.In("x", tile.BFloat16, tile.Array(64), tile.Block(64).At(tile.Const(0)))
		o := b.Out("o", tile.Float32, tile.Array(64), tile.Block(64).At(tile.Const(0)))
		s := b.Scratch("s", tile.BFloat16, 64)
		b.Store(s, tile.Mul(x, x))
		b.Accumulate(s, tile.Mul(tile.Cast(s, tile.Float32), tile.Number(0.25)))
		b.Store(o, tile.Cast(s, tile.Float32))
	},
	// Quotients round down and remainders are positive, below zero too.
	"negative indices": func(b *tile.Builder) {
		i := b.Axis("i", 9, tile.Parallel)
		o := b.Out("o", tile.Int32, tile.Array(9, 2), tile.Block(1, 2).At(i, tile.Const(0)))
		below := tile.Plus(i, tile.Const(-5))
		b.Store(o, tile.Concat(1, tile.Broadcast(tile.IndexValue(tile.FloorDiv(below, 3)), 1, 1), tile.Broadcast(tile.IndexValue(tile.Mod(below, 3)), 1, 1)))
		b.When(tile.Any(tile.Test(tile.FloorDiv(below, 2), tile.LT, tile.Const(-2)), tile.All()), func() { b.Accumulate(o, tile.IndexValue(tile.Times(i, 100))) })
	},
	// Narrow integers wrap where they are computed.
	"wrapping": func(b *tile.Builder) {
		spec := tile.Block(64).At(tile.Const(0))
		x := b.In("x", tile.Int8, tile.Array(64), spec)
		u := b.In("u", tile.Uint8, tile.Array(64), spec)
		n := b.In("n", tile.Int4, tile.Array(64), spec)
		o := b.Out("o", tile.Int32, tile.Array(64), spec)
		b.Store(o, tile.Cast(tile.Max(tile.Mul(x, x), tile.Neg(x)), tile.Int32))
		b.Accumulate(o, tile.Cast(tile.Sub(u, tile.Number(100)), tile.Int32))
		b.Accumulate(o, tile.Cast(tile.Add(tile.Abs(n), n), tile.Int32))
		b.Accumulate(o, tile.Cast(tile.RowSum(x), tile.Int32))
	},
}

func TestCorners_Meaning(t *testing.T) {
	for name, build := range corners {
		t.Run(name, func(t *testing.T) {
			b := tile.New("corner")
			build(b)
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, programs, randomInputs(programs, 11))
		})
	}
}
