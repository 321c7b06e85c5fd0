package check_test

import (
	"context"
	"fmt"

	"matladder/check"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// An output that is right passes, and each way of damaging it is found.
func ExampleVerify() {
	ctx := context.Background()
	p := problem.New(65, 40, 70, tile.Float32)
	k, err := kernels.Find("v3_block")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(p, "", tile.Blocks{M: 32, K: 32, N: 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := check.Inputs(ctx, p, programs, 1, check.Uniform)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fault := range append([]string{""}, check.Faults()...) {
		out, err := interp.Run(ctx, programs, in)
		if err != nil {
			fmt.Println(err)
			return
		}
		if fault != "" {
			if err := check.Inject(fault, out[0]); err != nil {
				fmt.Println(err)
				return
			}
		}
		r, err := check.Verify(ctx, p, programs, in, out[0])
		if err != nil || r.OK != (fault == "") {
			fmt.Printf("%q: %+v %v\n", fault, r, err)
		}
	}
	fmt.Println("the check tells right from wrong")
	// Output: the check tells right from wrong
}
