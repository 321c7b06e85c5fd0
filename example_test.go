package matladder_test

import (
	"context"
	"errors"
	"fmt"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// A product of two small matrices. Blocks are given here: without them, Compile takes
// those that are fastest on the machine.
func Example() {
	ctx := context.Background()
	product, err := matladder.Compile(ctx, problem.New(2, 3, 2, tile.Float32), matladder.Options{Blocks: tile.Blocks{M: 2, K: 3, N: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer product.Close()
	a := []float32{1, 2, 3, 4, 5, 6}
	b := []float32{1, 0, 0, 1, 1, 1}
	o := make([]float32, 4)
	err = product.Run(ctx, matladder.Of(o, 2, 2), matladder.Of(a, 2, 3), matladder.Of(b, 3, 2))
	fmt.Println(o, err)
	// Output: [4 5 10 11] <nil>
}

// Weights that are multiplied many times are laid out once.
func ExampleProgram_Prepack() {
	ctx := context.Background()
	layer, err := matladder.Compile(ctx, problem.New(1, 3, 2, tile.BFloat16), matladder.Options{Blocks: tile.Blocks{M: 1, K: 3, N: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer layer.Close()
	weights := matladder.From([]float32{1, 2, 3, 4, 5, 6}, matladder.ToBFloat16)
	packed, err := layer.Prepack(ctx, "b", matladder.Of(weights, 3, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := matladder.From([]float32{1, 1, 1}, matladder.ToBFloat16)
	y := make([]matladder.BFloat16, 2)
	err = layer.Run(ctx, matladder.Of(y, 1, 2), matladder.Of(x, 1, 3), packed)
	fmt.Println(matladder.Float32s(y), err)
	// Output: [9 12] <nil>
}

// A part of a larger matrix is multiplied where it lies; a mistake is an error that names
// the argument.
func ExampleStrided() {
	ctx := context.Background()
	square, err := matladder.Compile(ctx, problem.New(2, 2, 2, tile.Float32), matladder.Options{Blocks: tile.Blocks{M: 2, K: 2, N: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer square.Close()
	large := []float32{
		1, 2, 0,
		3, 4, 0,
	}
	part := matladder.Strided(large, []int{2, 2}, []int{3, 1})
	o := make([]float32, 4)
	fmt.Println(square.Run(ctx, matladder.Of(o, 2, 2), part, part), o)

	err = square.Run(ctx, matladder.Of(o, 2, 2), part, matladder.Of(large, 2, 3))
	var wrong *matladder.ArgumentError
	fmt.Println(errors.As(err, &wrong), err)
	// Output:
	// <nil> [7 10 15 22]
	// true matladder: b: have float32[2, 3], want float32[2, 2]
}
