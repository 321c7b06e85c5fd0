// Package ex7 is the exercise of lesson 7: the largest blocks that a TPU has room
// for.
//
// A kernel gets 16 MiB of fast memory there unless it asks for more. The compiler
// puts into it what registers do not hold, so leave it a quarter: blocks and
// scratch take at most 12 MiB. A block whose index changes takes two buffers, so
// that the next one arrives while this one is used; scratch takes one.
package ex7

import "matladder/tile"

// Float32 is a block shape for v4 on 4096×4096×4096 in float32. In fast memory it
// takes
//
//	2·4·(bm·bk + bk·bn + bm·bn) bytes.
//
// bm and bn are multiples of 128, and so is bk.
func Float32() tile.Blocks {
	return tile.Blocks{M: 0, K: 0, N: 0} // YOUR TURN
}

// BFloat16 is one for v5 on the same sizes in bfloat16. It has an accumulator too:
//
//	2·2·(bm·bk + bk·bn + bm·bn) + 4·bm·bn bytes.
func BFloat16() tile.Blocks {
	return tile.Blocks{M: 0, K: 0, N: 0} // YOUR TURN
}
