package tile_test

import "matladder/tile"

// badPadding let padding into a result.
var badPadding = []badCase{
	{"reductions", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(8, 10), tile.Block(4, 16).At(i, zero))
		s := b.Scratch("s", tile.Float32, 4, 16)
		o := b.Out("o", tile.Float32, tile.Array(8, 1), tile.Block(4, 1).At(i, zero))
		c := b.Scratch("c", tile.Float32, 1, 16)
		b.Store(c, tile.ReduceSum(tile.Select(tile.InBounds(x, 1), x, tile.Number(0)), 0)) // no row of x is outside
		b.Store(o, tile.RowMax(x))                                                         // want: reduce_max: dimension 1 of [4, 16] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
		b.Store(s, tile.Mul(x, tile.Number(2)))
		b.Store(o, tile.RowSum(tile.Exp(s)))                                                                   // want: reduce_sum: dimension 1 of [4, 16] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
		b.Store(o, tile.RowSum(tile.Select(tile.InBounds(x, 0), x, tile.Number(0))))                           // want: reduce_sum: dimension 1 of [4, 16] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
		b.Store(o, tile.RowSum(tile.Select(tile.InBounds(x, 1), tile.Number(0), x)))                           // want: reduce_sum: dimension 1 of [4, 16] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
		b.Store(o, tile.RowSum(tile.Slice(x, 1, tile.Const(4), 7)))                                            // want: reduce_sum: dimension 1 of [4, 7] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
		b.Store(o, tile.RowSum(tile.Concat(1, tile.Slice(x, 1, zero, 4), tile.Slice(x, 1, tile.Const(9), 2)))) // want: reduce_sum: dimension 1 of [4, 6] may hold padding: x: block [4, 16] of array float32[8, 10]: select with in_bounds(x, 1) first
	}},
	{"masked by another array", func(b *tile.Builder) {
		i := b.Axis("i", 3, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(1, 10), tile.Block(1, 4).At(zero, i))
		y := b.In("y", tile.Float32, tile.Array(1, 11), tile.Block(1, 4).At(zero, i))
		o := b.Out("o", tile.Float32, tile.Array(1, 3), tile.Block(1, 1).At(zero, i))
		b.Store(o, tile.RowSum(tile.Select(tile.InBounds(y, 1), x, tile.Number(0)))) // want: reduce_sum: dimension 1 of [1, 4] may hold padding: x: block [1, 4] of array float32[1, 10]: select with in_bounds(x, 1) first
	}},
	{"stored past the end of another array", func(b *tile.Builder) {
		i := b.Axis("i", 3, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(10), tile.Block(4).At(i))
		o := b.Out("o", tile.Float32, tile.Array(12), tile.Block(4).At(i))
		p := b.Out("p", tile.Float32, tile.Array(11), tile.Block(4).At(i))
		b.Store(o, x) // want: store: o: block [4] of array float32[12]: dimension 0 of the value may hold padding of x: block [4] of array float32[10]: select with in_bounds(x, 0), or let both arrays end in the same block
		b.Fill(p, 0)
		b.Accumulate(p, x) // want: accumulate: p: block [4] of array float32[11]: dimension 0 of the value may hold padding of x: block [4] of array float32[10]: select with in_bounds(x, 0), or let both arrays end in the same block
	}},
	{"summed over blocks", func(b *tile.Builder) {
		i, k := b.Axis("i", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		x := b.In("x", tile.Float32, tile.Array(8, 10), tile.Block(4, 4).At(i, k))
		o := b.Out("o", tile.Float32, tile.Array(8, 4), tile.Block(4, 4).At(i, zero))
		acc := b.Scratch("acc", tile.Float32, 4, 4)
		b.When(k.First(), func() { b.Fill(acc, 0) })
		b.Accumulate(acc, x)
		b.When(k.Last(), func() {
			b.Store(o, acc) // want: store: o: block [4, 4] of array float32[8, 4]: dimension 1 of the value may hold padding of x: block [4, 4] of array float32[8, 10]: select with in_bounds(x, 1), or let both arrays end in the same block
		})
	}},
	{"contractions over scratch", func(b *tile.Builder) {
		i, k := b.Axis("i", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		x := b.In("x", tile.Float32, tile.Array(8, 10), tile.Block(4, 4).At(i, k))
		w := b.In("w", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero))
		o := b.Out("o", tile.Float32, tile.Array(8, 4), tile.Block(4, 4).At(i, zero))
		last := b.Scratch("last", tile.Float32, 4, 4)
		b.When(k.First(), func() {
			b.Fill(last, 1)
			b.Fill(o, 0)
		})
		b.Accumulate(o, tile.Dot(last, w)) // want: dot: padding of x: block [4, 4] of array float32[8, 10] along the contraction was left by another program or repetition, or moved by a slice: select with in_bounds(x, 1) where it is loaded
		b.When(tile.Test(k, tile.GT, tile.Const(1)), func() { b.Store(last, x) })
		b.Accumulate(o, tile.Dot(last, w)) // want: dot: padding of x: block [4, 4] of array float32[8, 10] along the contraction is there under some conditions only: select with in_bounds(x, 1) where it is loaded
	}},
	{"contraction over what the last repetition left", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(8, 10), tile.Block(4, 16).At(i, zero))
		w := b.In("w", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero))
		o := b.Out("o", tile.Float32, tile.Array(8, 4), tile.Block(4, 4).At(i, zero))
		last := b.Scratch("last", tile.Float32, 4, 4)
		b.Fill(o, 0)
		b.Store(last, tile.Slice(x, 1, zero, 4))
		b.Loop("s", 3, func(s *tile.Axis) {
			b.Accumulate(o, tile.Dot(last, w)) // want: dot: padding of x: block [4, 16] of array float32[8, 10] along the contraction was left by another program or repetition, or moved by a slice: select with in_bounds(x, 1) where it is loaded
			b.Store(last, tile.Slice(x, 1, tile.Times(s, 4), 4))
			b.Accumulate(o, tile.Dot(last, w)) // and this is right
		})
	}},
	{"contraction over a broadcast", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(10, 1), tile.Block(8, 1).At(i, zero))
		w := b.In("w", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero))
		o := b.Out("o", tile.Float32, tile.Array(8, 4), tile.Block(4, 4).At(i, zero))
		row := tile.Broadcast(tile.Slice(x, 0, tile.Const(5), 1), 4, 4)
		b.Store(o, tile.Dot(row, w, tile.TransA)) // want: dot: padding of x: block [8, 1] of array float32[10, 1] along the contraction was broadcast: select with in_bounds(x, 0) where it is loaded
	}},
}
