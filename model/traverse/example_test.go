package traverse_test

import (
	"context"
	"fmt"
	"os"

	"matladder/kernels"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
)

// The third rung walks along k innermost: blocks of a and b come again and again.
func ExampleWriteMaps() {
	k, err := kernels.Find("v3_block")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(256, 256, 256, tile.Float32), "", tile.Blocks{M: 128, K: 128, N: 128})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := traverse.WriteMaps(context.Background(), os.Stdout, programs, nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a  2×2 blocks, brought in 8 times, 4 of them again; the step that is first to move each:
	//   1 2
	//   5 6
	// b  2×2 blocks, brought in 8 times, 4 of them again; the step that is first to move each:
	//   1 3
	//   2 4
	// o  2×2 blocks, written 4 times; the step that is first to move each:
	//   1 3
	//   5 7
	// 8 grid steps, 16 loads and 0 skipped, 4 stores; 1.3 MB moved, 524.3 kB of them again; fast memory 384.0 KiB
}
