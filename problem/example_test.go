package problem_test

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

func ExampleNew() {
	p := problem.New(512, 1024, 2048, tile.BFloat16)
	fmt.Println(p)
	fmt.Println(p.FLOPs(), "FLOPs on at least", p.Bytes(), "bytes, summed in", p.Acc)
	// Output:
	// 512x1024x2048 bfloat16×bfloat16→bfloat16
	// 2147483648 FLOPs on at least 7340032 bytes, summed in float32
}

// Operands that are narrow stand for numbers by their scales, here one for each column of
// b; sums are exact in int32 and scaled at the end.
func ExampleMatmul_Validate() {
	p := problem.New(64, 64, 64, tile.Int8)
	p.Quant, p.Out = "per_channel", tile.BFloat16
	fmt.Println(p.Validate())
	p.A, p.B = tile.Int8, tile.Float32
	fmt.Println(p.Validate())
	// Output:
	// <nil>
	// no product of int8 and float32
}
