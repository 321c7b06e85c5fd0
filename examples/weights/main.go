// Weights runs a layer of a language model as a server does: its weights are laid out once,
// and several requests multiply by them at once.
package main

import (
	"context"
	"fmt"
	"log"
	"sync"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

const rows, in, out = 16, 1024, 3072

func main() {
	ctx := context.Background()
	p := problem.New(rows, in, out, tile.BFloat16)
	p.Bias, p.Activation = true, problem.Gelu
	layer, err := matladder.Compile(ctx, p, matladder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer layer.Close()
	fmt.Println(names(layer.Inputs()), "→", names(layer.Outputs()))

	weights := make([]matladder.BFloat16, in*out)
	for i := range weights {
		weights[i] = matladder.ToBFloat16(1.0 / in)
	}
	packed, err := layer.Prepack(ctx, "b", matladder.Of(weights, in, out))
	if err != nil {
		log.Fatal(err)
	}
	bias := matladder.Of(make([]float32, out), 1, out)

	var wait sync.WaitGroup
	first := make([]float32, 8)
	for request := range first {
		wait.Go(func() {
			x, y := make([]matladder.BFloat16, rows*in), make([]matladder.BFloat16, rows*out)
			for i := range x {
				x[i] = matladder.ToBFloat16(float32(request))
			}
			if err := layer.Run(ctx, matladder.Of(y, rows, out), matladder.Of(x, rows, in), packed, bias); err != nil {
				log.Fatal(err)
			}
			first[request] = y[0].Float32()
		})
	}
	wait.Wait()
	fmt.Println(first) // gelu of 0, 1, 2 …
}

func names(list []matladder.Argument) []string {
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}
