package triton_test

import (
	"fmt"
	"strings"

	"matladder/kernels"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/tile"
)

// A kernel as text for a GPU: what its grid is, and what one program takes.
func ExampleLower() {
	k, err := kernels.Find("v4")
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Build(problem.New(512, 512, 512, tile.BFloat16), "", tile.Blocks{M: 128, K: 64, N: 128})
	if err != nil {
		fmt.Println(err)
		return
	}
	target, err := triton.FindTarget("sm_90")
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := triton.Lower(programs, triton.Options{Target: target})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := l.Kernels[0]
	fmt.Println(g.Programs, "programs, multiplies in the text:", strings.Contains(g.Body, "tt.dot"))
	// Output:
	// 16 programs, multiplies in the text: true
}
