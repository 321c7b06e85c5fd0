package mosaic_test

import (
	"fmt"
	"strings"

	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

// A kernel as text for a TPU, and what a generation without int8 says of it.
func ExampleLower() {
	k, err := kernels.Find("v3_block")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(256, 256, 256, tile.Int8), "", tile.Blocks{M: 128, K: 128, N: 128})
	if err != nil {
		fmt.Println(err)
		return
	}
	launch, err := mosaic.Lower(programs, mosaic.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(launch.Kernels[0].Body, "tpu.matmul"))
	v4, err := mosaic.FindTarget("v4")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = v4.Check(programs, mosaic.Options{})
	fmt.Println(strings.HasSuffix(err.Error(), "v4 does not multiply int8 by int8"))
	// Output:
	// true
	// true
}
