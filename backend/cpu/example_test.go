package cpu_test

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

func ExampleOpen() {
	ctx := context.Background()
	b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	k, err := kernels.Find("v4_optblock")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(2, 3, 2, tile.Float32), "", tile.Blocks{M: 2, K: 3, N: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	exe, err := b.Compile(ctx, programs, backend.Params{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer exe.Close()
	in := []tile.Tensor{tile.NewTensor(tile.Float32, 2, 3), tile.NewTensor(tile.Float32, 3, 2)}
	for i := range 6 {
		in[0].Set(i, float64(i+1))
		in[1].Set(i, float64(i+1))
	}
	if err := exe.Load(in...); err != nil {
		fmt.Println(err)
		return
	}
	sample, err := exe.Run(ctx, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	out := tile.NewTensor(tile.Float32, 2, 2)
	if err := exe.Results(out); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Float32s(), "in some time:", sample.Elapsed > 0)
	// Output: [22 28 49 64] in some time: true
}
