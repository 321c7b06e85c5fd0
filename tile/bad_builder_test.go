package tile_test

import "matladder/tile"

// badBuilder make mistakes that a constructor or the builder sees at once.
var badBuilder = []badCase{
	{"expressions", func(b *tile.Builder) {
		x, w, o := plain(b, zero, zero, zero)
		half := b.In("half", tile.BFloat16, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero))
		n := b.In("n", tile.Int32, tile.Array(3), tile.Block(3).At(zero))
		b.Store(o, tile.Add(x, half))                      // want: add: operands are float32 and bfloat16: cast one first
		b.Store(o, tile.Mul(x, tile.Slice(w, 0, zero, 3))) // want: mul: shapes [4, 4] and [3, 4] do not fit
		b.Store(o, tile.Dot(x, half))                      // want: dot: no product of float32 and bfloat16: cast one first
		b.Store(o, tile.Dot(x, tile.Slice(w, 0, zero, 3))) // want: dot: a [4, 4] contracts over 4 elements, b [3, 4] over 3
		b.Store(o, tile.Dot(x, n))                         // want: dot: operands must be of rank 2, have [4, 4] and [3]
		b.Store(o, tile.Slice(x, 2, zero, 1))              // want: slice: no 1 elements along dimension 2 of [4, 4]
		b.Store(o, tile.Exp(n))                            // want: exp: operand is int32: cast it to a float first
		b.Store(o, tile.Select(x, x, x))                   // want: select: the condition is float32, not bool
		b.Store(o, tile.InBounds(n, 1))                    // want: in_bounds: n has no dimension 1
	}},
	{"more expressions", func(b *tile.Builder) {
		x, _, o := plain(b, zero, zero, zero)
		n := b.In("n", tile.Int32, tile.Array(3), tile.Block(3).At(zero))
		b.Store(o, tile.Invert(x))              // want: not: no such operation on float32
		b.Store(o, tile.And(x, x))              // want: and: no such operation on float32
		b.Store(o, tile.Div(n, n))              // want: div: operands are int32: cast them to a float first
		b.Store(o, tile.Concat(0, x, n))        // want: concat: int32[3] does not continue float32[4, 4]
		b.Store(o, tile.Concat(0))              // want: concat: nothing to put together
		b.Store(o, tile.Iota(2, 4, 4))          // want: iota: no dimension 2 in shape [4, 4]
		b.Store(o, tile.RowSum(tile.Number(1))) // want: reduce_sum: operand has rank 0
		b.Store(o, tile.ReduceMax(o, 2))        // want: reduce_max: no dimension 2 in [4, 4]
		b.Store(o, tile.Broadcast(x, 4, 5))     // want: broadcast: [4, 4] does not fit [4, 5]
	}},
	{"writes", func(b *tile.Builder) {
		x, _, o := plain(b, zero, zero, zero)
		n := b.Scratch("n", tile.Int32, 4, 4)
		b.Store(n, x)                         // want: store: n is int32, the value float32: cast it
		b.Accumulate(n, x)                    // want: accumulate: n is int32, the value float32: cast it
		b.Store(o, tile.Slice(x, 0, zero, 2)) // want: broadcast: [2, 4] does not fit [4, 4]
	}},
	{"a mistake deep inside composed operations", func(b *tile.Builder) {
		_, _, o := plain(b, zero, zero, zero)
		n := b.Scratch("n", tile.Int32, 4, 4)
		wrong := tile.Gelu(tile.Silu(n)) // want: logistic: operand is int32: cast it to a float first
		b.Store(o, tile.Relu(tile.Add(wrong, tile.Number(1))))
	}},
}
