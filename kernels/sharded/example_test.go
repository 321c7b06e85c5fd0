package sharded_test

import (
	"context"
	"fmt"

	"matladder/kernels/sharded"
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// One product of two devices, each with half of a's rows and half of b's columns, in memory.
func ExampleAll() {
	p := problem.Sharded{M: 16, K: 8, N: 16, Devices: 2, Dtype: tile.Float32, Way: problem.Gather}
	a, b := tile.NewTensor(p.Dtype, p.M, p.K), tile.NewTensor(p.Dtype, p.K, p.N)
	for i := range a.Len() {
		a.Set(i, 1)
		b.Set(i, 2)
	}
	k := sharded.All[2]
	programs, err := k.Build(p, "", k.Blocks(p, problem.Machine{})[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	in := make([][]tile.Tensor, p.Devices)
	for d := range in {
		in[d] = []tile.Tensor{shards.Cut(p, "a", a)[d], shards.Cut(p, "b", b)[d]}
	}
	out, err := interp.RunMesh(context.Background(), programs, in, interp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := shards.Join(p, "o", []tile.Tensor{out[0][0], out[1][0]})
	fmt.Println(k.Name, o.Shape, o.At(0), o.At(255))
	// Output:
	// v3_ring [16 16] 16 16
}
