package tile_test

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// A product of a (64 × 32) and b (32 × 48) in blocks of 32 × 16 × 16: the grid has a
// program for each block of o and each step along k.
func ExampleBuilder() {
	t := tile.New("product")
	i, j := t.Axis("i", 2, tile.Parallel), t.Axis("j", 3, tile.Parallel)
	k := t.Axis("k", 2, tile.Arbitrary)

	a := t.In("a", tile.BFloat16, tile.Array(64, 32), tile.Block(32, 16).At(i, k))
	b := t.In("b", tile.BFloat16, tile.Array(32, 48), tile.Block(16, 16).At(k, j))
	o := t.Out("o", tile.BFloat16, tile.Array(64, 48), tile.Block(32, 16).At(i, j))
	acc := t.Scratch("acc", tile.Float32, 32, 16)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, tile.BFloat16)) })

	programs, err := t.Programs()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(programs[0])
	// Output:
	// product
	//   grid (i, j, k) = (2, 3, 2), parallel, parallel, arbitrary
	//   in       a    bfloat16[64, 32]  block (32, 16)  lambda i, j, k: (i, k)
	//   in       b    bfloat16[32, 48]  block (16, 16)  lambda i, j, k: (k, j)
	//   out      o    bfloat16[64, 48]  block (32, 16)  lambda i, j, k: (i, j)
	//   scratch  acc  float32[32, 16]
	//   when k == 0:
	//     acc[...] = 0
	//   acc[...] += dot(a[...], b[...])
	//   when k == 1:
	//     o[...] = cast(acc[...], bfloat16)
}

// What would be wrong on a parallel machine is refused, at its line of the kernel.
func ExampleProgram_Verify() {
	t := tile.New("races")
	t.Axis("i", 4, tile.Parallel)
	o := t.Out("o", tile.Float32, tile.Array(8, 8), tile.Block(8, 8).At(tile.Const(0), tile.Const(0)))
	t.Fill(o, 1) // by four programs at once
	_, err := t.Programs()
	_, why, _ := strings.Cut(err.Error(), ": ") // behind the place
	fmt.Println(why)
	// Output:
	// races: o: block [8, 8] of array float32[8, 8]: index map (0, 0): every program along the parallel axis i writes the same block
}
