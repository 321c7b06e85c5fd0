package tile_test

import "matladder/tile"

// badVisits see or fill the blocks of an output, or scratch, in a wrong order,
// twice, or never.
var badVisits = []badCase{
	{"a parallel axis that the output does not use", func(b *tile.Builder) {
		i, j, k := b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel), b.Axis("k", 3, tile.Parallel)
		x := b.In("x", tile.Float32, tile.Array(8, 12), tile.Block(4, 4).At(i, k))
		o := b.Out("o", tile.Float32, tile.Array(8, 8), tile.Block(4, 4).At(i, j)) // want: o: block [4, 4] of array float32[8, 8]: index map (i, j): every program along the parallel axis k writes the same block
		b.When(k.First(), func() { b.Fill(o, 0) })
		b.Accumulate(o, x)
	}},
	{"an output block left and seen again", func(b *tile.Builder) {
		k, i, j := b.Axis("k", 3, tile.Arbitrary), b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(8, 8), tile.Block(4, 4).At(i, j)) // want: o: block [4, 4] of array float32[8, 8]: index map (i, j): the grid leaves each block and comes back to it in the next step of k: let k be the last axis
		b.When(k.First(), func() { b.Fill(o, 0) })
		b.Accumulate(o, tile.Number(1))
	}},
	{"a grid that misses blocks", func(b *tile.Builder) {
		i := b.Axis("i", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(9, 8), tile.Block(4, 8).At(i, zero))                 // want: o: block [4, 8] of array float32[9, 8]: axis i has 2 programs, but there are 3 blocks along dimension 0: the last ones are never written
		p := b.Out("p", tile.Float32, tile.Array(8, 8), tile.Block(4, 4).At(i, zero))                 // want: p: block [4, 4] of array float32[8, 8]: the index map has 0 along dimension 1, where there are 2 blocks: the others are never written
		q := b.Out("q", tile.Float32, tile.Array(16, 1), tile.Block(4, 1).At(tile.Times(i, 2), zero)) // want: q: block [4, 1] of array float32[16, 1]: index map (i*2, 0): 2 programs cannot write its 4 blocks
		b.Fill(o, 0)
		b.Fill(p, 0)
		b.Fill(q, 0)
	}},
	{"counted: a block missed", func(b *tile.Builder) {
		i := b.Axis("i", 4, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(12), tile.Block(4).At(tile.Times(tile.FloorDiv(i, 2), 2))) // want: o: block [4] of array float32[12]: index map ((i // 2)*2): block [1] and 0 others are never written
		b.Fill(o, 0)
	}},
	{"counted: two parallel programs", func(b *tile.Builder) {
		i, j := b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(12), tile.Block(4).At(tile.Plus(i, j))) // want: o: block [4] of array float32[12]: index map (i + j): two parallel programs write block [1], program (i=1, j=0) the second
		b.Fill(o, 0)
	}},
	{"counted: a diagonal leaves an axis out", func(b *tile.Builder) {
		i, _ := b.Axis("i", 4, tile.Parallel), b.Axis("j", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(16), tile.Block(4).At(tile.Mod(i, 4))) // want: o: block [4] of array float32[16]: index map (i % 4): every program along the parallel axis j writes the same block
		b.Fill(o, 0)
	}},
	{"counted: left and seen again", func(b *tile.Builder) {
		i := b.Axis("i", 4, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(tile.Mod(i, 2))) // want: o: block [4] of array float32[8]: index map (i % 2): the grid leaves block [0] and comes back to it in program (i=2)
		b.Fill(o, 0)
	}},
	{"counted: an outer axis comes round", func(b *tile.Builder) {
		b.Axis("r", 1000000, tile.Arbitrary)
		i := b.Axis("i", 4, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(tile.FloorDiv(i, 2))) // want: o: block [4] of array float32[8]: index map (i // 2): the grid leaves block [0] and comes back to it in program (r=1, i=0)
		b.Fill(o, 0)
	}},
	{"counted: beyond counting", func(b *tile.Builder) {
		i := b.Axis("i", 1<<21, tile.Parallel)
		o := b.Out("o", tile.Int8, tile.Array(1<<20), tile.Block(1).At(tile.FloorDiv(i, 2))) // want: o: block [1] of array int8[1048576]: index map (i // 2): more than a million programs to check: let each result be an axis or a constant
		b.Fill(o, 0)
	}},
	{"never written", func(b *tile.Builder) {
		i, k := b.Axis("i", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(i))
		b.Out("p", tile.Float32, tile.Array(8), tile.Block(4).At(i)) // want: p: block [4] of array float32[8]: it is never written
		b.When(tile.Test(k, tile.EQ, tile.Const(3)), func() {
			b.Fill(o, 0) // want: o: block [4] of array float32[8]: under these conditions not every block of it is written
		})
	}},
	{"written in some blocks", func(b *tile.Builder) {
		i, k := b.Axis("i", 4, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(16), tile.Block(4).At(i))
		p := b.Out("p", tile.Float32, tile.Array(16), tile.Block(4).At(tile.Mod(i, 4)))
		b.When(tile.Any(tile.Test(i, tile.EQ, k), tile.Test(i, tile.LT, tile.Const(2))), func() {
			b.Fill(o, 0) // want: o: block [4] of array float32[16]: under these conditions not every block of it is written
			b.Fill(p, 0) // want: p: block [4] of array float32[16]: under these conditions not every block of it is written
		})
	}},
	{"accumulated before filled", func(b *tile.Builder) {
		i, j, k := b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		x, w, o := plain(b, i, j, k)
		acc := b.Scratch("acc", tile.Float32, 4, 4)
		b.Accumulate(acc, tile.Dot(x, w)) // want: acc: scratch float32[4, 4]: it is accumulated before it is filled: nothing fills it where i = 0, j = 0, k = 0
		b.Accumulate(o, tile.Dot(x, w))   // want: o: block [4, 4] of array float32[8, 8]: it is accumulated before it is filled: nothing fills it where k = 0
	}},
	{"read late, filled never", func(b *tile.Builder) {
		k := b.Axis("k", 3, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(4), tile.Block(4).At(zero))
		acc := b.Scratch("acc", tile.Float32, 4)
		b.When(k.Last(), func() {
			b.Store(o, acc) // want: acc: scratch float32[4]: it is read before it is filled: nothing fills it where k = 0
		})
	}},
	{"filled too late", func(b *tile.Builder) {
		i, j, k := b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary)
		x, w, o := plain(b, i, j, k)
		acc := b.Scratch("acc", tile.Float32, 4, 4)
		b.When(k.Last(), func() { b.Fill(acc, 0) })
		b.Accumulate(acc, tile.Dot(x, w)) // want: acc: scratch float32[4, 4]: it is accumulated before it is filled: nothing fills it where i = 0, j = 0, k = 0
		b.When(i.First(), func() { b.Fill(o, 0) })
		b.Store(o, tile.Add(o, acc)) // want: o: block [4, 4] of array float32[8, 8]: it is read before it is filled: nothing fills it where k = 0
	}},
	{"filled in the first program alone", func(b *tile.Builder) {
		i, j := b.Axis("i", 2, tile.Arbitrary), b.Axis("j", 2, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8, 8), tile.Block(4, 4).At(i, j))
		b.When(tile.All(i.First(), j.First()), func() { b.Fill(o, 0) })
		b.Accumulate(o, tile.Number(1)) // want: o: block [4, 4] of array float32[8, 8]: it is accumulated before it is filled
	}},
	{"no grid, read first", func(b *tile.Builder) {
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(8).At(zero))
		b.Store(o, tile.Add(o, tile.Number(1))) // want: o: block [8] of array float32[8]: it is read before it is filled
	}},
	{"filled in the wrong half", func(b *tile.Builder) {
		k := b.Axis("k", 8, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(tile.FloorDiv(k, 4)))
		b.When(tile.Test(tile.Mod(k, 8), tile.EQ, zero), func() { b.Fill(o, 0) })
		b.Accumulate(o, tile.Number(1)) // want: o: block [4] of array float32[8]: program (k=4) is the first to see block [1] and reads it before it is filled
	}},
	{"filled in the wrong half, blocks in descending order", func(b *tile.Builder) {
		k := b.Axis("k", 8, tile.Arbitrary)
		o := b.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(tile.Plus(tile.Const(1), tile.Times(tile.FloorDiv(k, 4), -1))))
		b.When(tile.Test(tile.Mod(k, 8), tile.EQ, zero), func() { b.Fill(o, 0) })
		b.Accumulate(o, tile.Number(1)) // want: o: block [4] of array float32[8]: program (k=4) is the first to see block [0] and reads it before it is filled
	}},
	{"scratch over a parallel axis", func(b *tile.Builder) {
		i, k, j := b.Axis("i", 2, tile.Parallel), b.Axis("k", 3, tile.Arbitrary), b.Axis("j", 2, tile.Parallel)
		o := b.Out("o", tile.Float32, tile.Array(8, 24), tile.Block(4, 4).At(i, tile.Plus(tile.Times(k, 2), j)))
		acc := b.Scratch("acc", tile.Float32, 4, 4) // want: acc: scratch float32[4, 4]: it is kept from program to program along the parallel axis j, whose programs run in any order: fill it anew in each, or let the axes it is kept over come last
		b.When(k.First(), func() { b.Fill(acc, 0) })
		b.Accumulate(acc, tile.Number(1))
		b.Store(o, acc)
	}},
	{"scratch of another table entry", func(b *tile.Builder) {
		i := b.Axis("i", 4, tile.Arbitrary)
		t := b.Table("t", 4)
		o := b.Out("o", tile.Float32, tile.Array(16), tile.Block(4).At(t.At(i)))
		b.Accumulate(o, tile.Number(1)) // want: o: block [4] of array float32[16]: it is accumulated before it is filled: nothing fills it where i = 0
	}},
}
