package tile_test

import "matladder/tile"

// badSteps have blocks that overlap where they may not.
var badSteps = []badCase{
	{"steps that leave elements out, and of another rank", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(i, zero).Every(5, 3)) // want: x: block [4, 3] of array float32[8, 3]: every 5 along dimension 0: want 1 … 4, so that blocks leave nothing out
		z := b.In("z", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(i, zero).Every(4, 0)) // want: z: block [4, 3] of array float32[8, 3]: every 0 along dimension 1: want 1 … 3, so that blocks leave nothing out
		y := b.In("y", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(i, zero).Every(4))    // want: y: block [4, 3] of array float32[8, 3]: every (4): the array has 2 dimensions
		o := b.Out("o", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(i, zero))
		b.Store(o, tile.Add(x, tile.Add(y, z)))
	}},
	{"an output without a table", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(i).Every(3)) // want: o: block [4] of array float32[8]: blocks of an output that overlap are for a table to place, which knows what each stores
		b.Fill(o, 0)
	}},
	{"an output that is read", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(b.Table("t", 2).At(i)).Every(1))
		b.Store(o, tile.Mul(o, tile.Number(2))) // want: o: block [4] of array float32[8]: blocks of an output that overlap can be stored to and not read: what others stored may be on its way
		b.Accumulate(o, tile.Number(2))         // want: accumulate: o: block [4] of array float32[8]: blocks of an output that overlap can be stored to and not read: what others stored may be on its way
	}},
	{"buffers", func(b *tile.Builder) {
		i := b.Axis("i", 3, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(i, zero).Every(2, 3).Buffered(3)) // want: x: block [4, 3] of array float32[8, 3]: buffers are for blocks side by side
		o := b.Out("o", tile.Float32, tile.Array(12, 3), tile.Block(4, 3).At(i, zero))
		b.Store(o, x)
	}},
}
