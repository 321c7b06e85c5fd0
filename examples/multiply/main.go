// Multiply multiplies two matrices.
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

func main() {
	ctx := context.Background()
	const m, k, n = 300, 200, 250

	product, err := matladder.Compile(ctx, problem.New(m, k, n, tile.Float32), matladder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer product.Close()

	a, b := slices.Repeat([]float32{1}, m*k), make([]float32, k*n)
	for i := range b {
		b[i] = float32(i % n)
	}
	o := make([]float32, m*n)
	if err := product.Run(ctx, matladder.Of(o, m, n), matladder.Of(a, m, k), matladder.Of(b, k, n)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(o[:4]) // each element of column j is 200·j
}
