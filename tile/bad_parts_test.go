package tile_test

import "matladder/tile"

// badParts are wrong in one part, or in how two parts fit: shapes, names, scopes,
// dtypes, index ranges.
var badParts = []badCase{
	{"axis sizes", func(b *tile.Builder) {
		b.Axis("i", 0, tile.Parallel)  // want: axis i: size 0: an axis needs at least one program
		b.Axis("j", -3, tile.Parallel) // want: axis j: size -3: an axis needs at least one program
	}},
	{"axis names", func(b *tile.Builder) {
		b.Axis("i", 2, tile.Parallel)
		b.Axis("i", 2, tile.Parallel) // want: axis i: there is an axis of this name already
		b.Axis("", 2, tile.Parallel)  // want: an axis needs a name
	}},
	{"grid size", func(b *tile.Builder) {
		b.Axis("i", 1<<40, tile.Parallel)
		b.Axis("j", 1<<40, tile.Parallel) // want: axis j: size 1099511627776: the grid has more programs than 64 bits can count
	}},
	{"ref names", func(b *tile.Builder) {
		b.In("x", tile.Float32, tile.Array(8), tile.Block(8).At(zero))
		b.Scratch("x", tile.Float32, 8) // want: x: there is a ref of this name already
	}},
	{"ref shapes", func(b *tile.Builder) {
		b.In("a", tile.Float32, tile.Array(8, 0), tile.Block(8, 8).At(zero, zero)) // want: a: block [8, 8] of array float32[8, 0]: dimension 1 has size 0: every size must be at least 1
		b.In("b", tile.Float32, tile.Array(8, 8), tile.Block(8, 0).At(zero, zero)) // want: b: block [8, 0] of array float32[8, 8]: block dimension 1 has size 0: every size must be at least 1
		b.In("c", tile.Float32, tile.Array(8, 8), tile.Block(8).At(zero, zero))    // want: c: block [8] of array float32[8, 8]: the block has 1 dimensions, the array 2
		b.In("d", tile.Float32, tile.Array(8, 8), tile.Block(8, 8).At(zero))       // want: d: block [8, 8] of array float32[8, 8]: the index map has 1 results, the array 2 dimensions
		b.Scratch("e", tile.Float32, 8, -1)                                        // want: e: scratch float32[8, -1]: dimension 1 has size -1: every size must be at least 1
		b.Table("f", 0)                                                            // want: f: table int32[0]: dimension 0 has size 0: every size must be at least 1
	}},
	{"ref dtypes", func(b *tile.Builder) {
		b.Scratch("mask", tile.Bool, 8)          // want: mask: no array is of dtype bool
		b.Scratch("none", tile.InvalidDtype, 8)  // want: none: no array is of dtype invalid
		b.Scratch("other", tile.Dtype(77), 8, 8) // want: other: no array is of dtype dtype(77)
	}},
	{"memory", func(b *tile.Builder) {
		b.In("x", tile.Float32, tile.Array(1<<40), tile.Block(8).At(zero))
		b.In("y", tile.Float32, tile.Array(1<<30, 1<<30), tile.Block(8, 8).At(zero, zero)) // want: y: block [8, 8] of array float32[1073741824, 1073741824]: the sizes of all arrays together overflow 64 bits
	}},
	{"scope of index maps", func(b *tile.Builder) {
		other := tile.New("other")
		i, table := other.Axis("i", 2, tile.Parallel), other.Table("t", 4)
		b.In("x", tile.Float32, tile.Array(8), tile.Block(4).At(i))                                // want: x: block [4] of array float32[8]: index map, dimension 0: axis i is not of this grid
		b.In("y", tile.Float32, tile.Array(8), tile.Block(4).At(table.At(zero)))                   // want: y: block [4] of array float32[8]: index map, dimension 0: a table of another program is looked up
		b.In("z", tile.Float32, tile.Array(8), tile.Block(4).At(nil))                              // want: z: block [4] of array float32[8]: index map, dimension 0: an index expression is missing
		b.In("u", tile.Float32, tile.Array(8), tile.Block(4).At(tile.FloorDiv(zero, 0)))           // want: u: block [4] of array float32[8]: index map, dimension 0: a divisor must be at least 1
		b.In("v", tile.Float32, tile.Array(8), tile.Block(4).At(tile.Mod(tile.Plus(i, zero), -2))) // want: v: block [4] of array float32[8]: index map, dimension 0: a divisor must be at least 1
	}},
	{"scope of loop variables", func(b *tile.Builder) {
		_, _, o := plain(b, b.Axis("i", 2, tile.Parallel), b.Axis("j", 2, tile.Parallel), zero)
		var outside *tile.Axis
		b.Loop("s", 2, func(s *tile.Axis) { outside = s })
		b.When(tile.Test(outside, tile.EQ, zero), func() { b.Fill(o, 0) }) // want: when: loop variable s is used outside its loop
		v := tile.IndexValue(outside)                                      // want: index: loop variable s is used outside its loop
		b.Store(o, tile.Cast(v, tile.Float32))
	}},
	{"loops", func(b *tile.Builder) {
		b.Axis("i", 2, tile.Parallel)
		b.Loop("i", 2, func(*tile.Axis) {}) // want: loop i: there is an axis of this name around it already
		b.Loop("s", 0, func(*tile.Axis) {}) // want: loop s: size 0: a loop runs at least once
	}},
	{"bounds of axes", func(b *tile.Builder) {
		t, x := b.Table("t", 4), b.In("x", tile.Int32, tile.Array(4), tile.Block(4).At(zero))
		i := b.Axis("i", 4, tile.Parallel)
		b.BoundedAxis("j", 4, tile.Parallel, tile.Const(3))       // want: axis j: its bound is not an element of a table
		b.BoundedAxis("k", 4, tile.Parallel, t.At(i))             // want: axis k: bound t[i]: want one of elements 0 … 3 of the table
		b.BoundedAxis("l", 4, tile.Parallel, t.At(tile.Const(4))) // want: axis l: bound t[4]: want one of elements 0 … 3 of the table
		b.BoundedAxis("m", 4, tile.Parallel, x.At(zero))          // want: axis m: bound: x is looked up but is in, not a table
	}},
	{"rows", func(b *tile.Builder) {
		x, w, o := plain(b, zero, zero, zero)
		s := b.Scratch("s", tile.Float32, 4, 4)
		r := b.Scratch("r", tile.Float32)
		b.StoreRows(o, zero, tile.Const(4), tile.Number(1))
		b.StoreRows(r, zero, tile.Const(1), tile.Number(1)) // want: store: r has no rows
		b.StoreRows(x, zero, tile.Const(1), w)              // want: store: x: block [4, 4] of array float32[8, 12]: only out and scratch refs can be written
		b.StoreRows(s, zero, tile.FloorDiv(zero, 0), w)     // want: store: rows of s: a divisor must be at least 1
	}},
	{"statements", func(b *tile.Builder) {
		x, w, o := plain(b, zero, zero, zero)
		table := b.Table("t", 4)
		foreign := tile.New("other").Scratch("s", tile.Float32, 4, 4)
		b.Store(x, w)                    // want: store: x: block [4, 4] of array float32[8, 12]: only out and scratch refs can be written
		b.Fill(table, 0)                 // want: fill: t: table int32[4]: only out and scratch refs can be written
		b.Fill(foreign, 0)               // want: fill: the ref is not of this program
		b.Store(o, tile.Add(x, foreign)) // want: load: the ref is not of this program
		b.When(tile.All(nil), func() {}) // want: when: a condition is missing
	}},
	{"table as a value", func(b *tile.Builder) {
		o := b.Out("o", tile.Int32, tile.Array(4), tile.Block(4).At(zero))
		table := b.Table("t", 4)
		b.Store(o, table) // want: load: t is a table: look it up with IndexValue(t.At(…))
	}},
	{"constants", func(b *tile.Builder) {
		a := b.Scratch("a", tile.Int8, 4)
		c := b.Scratch("c", tile.Float8E4M3FN, 4)
		d := b.Scratch("d", tile.Float32, 4)
		b.Fill(a, 128)                       // want: the constant 128 does not fit int8 (-128 … 127)
		b.Fill(a, 0.5)                       // want: the constant 0.5 does not fit int8 (-128 … 127)
		b.Fill(c, 1000)                      // want: the constant 1000 does not fit float8_e4m3fn (-448 … 448)
		b.Store(d, tile.Number(1e39))        // want: the constant 1e+39 does not fit float32 (-3.4028234663852886e+38 … 3.4028234663852886e+38)
		b.Store(a, tile.Exp(tile.Number(1))) // want: exp: no such operation on int8
	}},
	{"block out of range", func(b *tile.Builder) {
		i := b.Axis("i", 3, tile.Parallel)
		b.In("x", tile.Float32, tile.Array(8), tile.Block(4).At(i))                            // want: x: block [4] of array float32[8]: index map (i): i is 2 in program (i=2) along dimension 0, where its blocks are 0 … 1
		b.In("y", tile.Float32, tile.Array(9), tile.Block(4).At(tile.Plus(i, tile.Const(-1)))) // want: y: block [4] of array float32[9]: index map (i + -1): i + -1 is -1 in program (i=0) along dimension 0, where its blocks are 0 … 2
		b.In("z", tile.Float32, tile.Array(9), tile.Block(4).At(tile.Const(3)))                // want: z: block [4] of array float32[9]: index map (3): it is 3 along dimension 0, where its blocks are 0 … 2
	}},
	{"too many programs to count", func(b *tile.Builder) {
		i := b.Axis("i", 1<<21, tile.Parallel)
		x := tile.Plus(tile.Times(tile.FloorDiv(i, 3), 3), tile.Mod(i, 3))
		b.In("x", tile.Int8, tile.Array(1<<21), tile.Block(1).At(x)) // want: x: block [1] of array int8[2097152]: index map ((i // 3)*3 + (i % 3)): (i // 3)*3 + (i % 3) cannot be shown to stay inside by counting a million programs along dimension 0, where its blocks are 0 … 2097151
	}},
	{"table out of range", func(b *tile.Builder) {
		i := b.Axis("i", 5, tile.Parallel)
		t := b.Table("t", 4)
		b.In("x", tile.Float32, tile.Array(8), tile.Block(4).At(t.At(i))) // want: t[i]: i is 4 in program (i=4), the table has elements 0 … 3
		above := tile.Test(i, tile.LT, tile.Const(4))
		b.When(tile.All(above, tile.Test(t.At(i), tile.EQ, zero)), func() {})
		b.When(tile.All(tile.Test(t.At(i), tile.EQ, zero), above), func() {}) // want: t[i]: i is 4 in program (i=4), the table has elements 0 … 3
	}},
	{"slice out of range", func(b *tile.Builder) {
		x, _, o := plain(b, zero, zero, zero)
		b.Loop("s", 3, func(s *tile.Axis) {
			from := tile.Times(s, 2)
			b.When(tile.Test(s, tile.LT, tile.Const(2)), func() { b.Store(o, tile.Concat(1, tile.Slice(x, 1, from, 2), tile.Slice(x, 1, zero, 2))) })
			part := tile.Slice(x, 1, from, 2) // want: slice: s*2 is 4 in program (s=2) along dimension 1 of [4, 4], too far for 2 elements
			b.Store(o, tile.Concat(1, part, part))
		})
	}},
}
