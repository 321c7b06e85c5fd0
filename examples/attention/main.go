// Attention computes it for sequences of several lengths by one program: how long each is
// is an input.
package main

import (
	"context"
	"fmt"
	"log"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

func main() {
	ctx := context.Background()
	const batch, heads, length, dim = 2, 4, 128, 64
	p := problem.Attention{
		Batch: batch, Heads: heads, KVHeads: heads, Rows: length, Keys: length, Dim: dim, ValueDim: dim,
		Dtype: tile.Float32, Causal: true, Lengths: true,
	}
	attention, err := matladder.Compile(ctx, p, matladder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer attention.Close()

	array := func() matladder.Tensor {
		x := make([]float32, batch*heads*length*dim)
		for i := range x {
			x[i] = float32(i/dim%length) / length
		}
		return matladder.Of(x, batch, heads, length, dim)
	}
	q, k, v := array(), array(), array()
	o := make([]float32, batch*heads*length*dim)
	for _, n := range []int32{1, 50, length} {
		args := map[string]matladder.Tensor{"q": q, "k": k, "v": v, "lengths": matladder.Of([]int32{n, n, length, length}, 2*batch)}
		var in []matladder.Tensor
		for _, a := range attention.Inputs() {
			in = append(in, args[a.Name])
		}
		if err := attention.Run(ctx, matladder.Of(o, batch, heads, length, dim), in...); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("length %3d: the last row of the first head begins with %.4f\n", n, o[(n-1)*dim])
	}
}
