package model_test

import (
	"fmt"

	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// Larger blocks move fewer bytes: the same product climbs along the roofline of a TPU v5e.
func ExampleCounts_At() {
	k, err := kernels.Find("v4_optblock")
	if err != nil {
		fmt.Println(err)
		return
	}
	v5e, err := machine.Find("v5e")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := problem.New(4096, 4096, 4096, tile.BFloat16)
	for _, n := range []int{128, 256, 512, 1024} {
		programs, err := k.Build(p, "", tile.Blocks{M: n, K: n, N: n})
		if err != nil {
			fmt.Println(err)
			return
		}
		c, err := model.Count(programs)
		if err != nil {
			fmt.Println(err)
			return
		}
		roof, _ := c.At(v5e, "bfloat16", "default")
		fmt.Printf("%4d: %5.1f FLOPs a byte, at most %5.1f TFLOP/s, bound by %s\n", n, c.Intensity(), roof.Attainable/1e12, roof.Limit)
	}
	// Output:
	//  128:  63.0 FLOPs a byte, at most  51.6 TFLOP/s, bound by memory
	//  256: 124.1 FLOPs a byte, at most 101.7 TFLOP/s, bound by memory
	//  512: 240.9 FLOPs a byte, at most 197.0 TFLOP/s, bound by compute
	// 1024: 455.1 FLOPs a byte, at most 197.0 TFLOP/s, bound by compute
}
