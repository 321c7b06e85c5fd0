package stablehlo_test

import (
	"fmt"
	"strings"

	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// XLA's own product as text that any PJRT plugin compiles.
func ExampleBaseline() {
	l, err := stablehlo.Baseline(problem.New(64, 32, 16, tile.BFloat16))
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(l.Once()) {
		if strings.Contains(line, "public") || strings.Contains(line, "dot_general") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// func.func public @main(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) -> (tensor<64x16xbf16>) {
	// %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xbf16>, tensor<32x16xbf16>) -> tensor<64x16xf32>
}
