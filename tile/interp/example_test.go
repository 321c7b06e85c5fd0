package interp_test

import (
	"context"
	"fmt"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

func ExampleRun() {
	k, err := kernels.Find("v3_block")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(2, 3, 2, tile.Float32), "", tile.Blocks{M: 2, K: 2, N: 2}) // blocks overhang k
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := tile.NewTensor(tile.Float32, 2, 3), tile.NewTensor(tile.Float32, 3, 2)
	for i := range 6 {
		a.Set(i, float64(i+1))
		b.Set(i, float64(i+1))
	}
	out, err := interp.Run(context.Background(), programs, []tile.Tensor{a, b})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Float32s())
	// Output: [22 28 49 64]
}
