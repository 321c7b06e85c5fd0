package kernels_test

import (
	"fmt"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// What a kernel proposes for a machine of two cores, and what it builds of the first.
func ExampleFind() {
	k, err := kernels.Find("4")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := problem.New(300, 200, 250, tile.Float32)
	blocks := k.Candidates(p, problem.Machine{Parallel: 2})
	fmt.Println(k.Name(), "proposes", blocks)
	programs, err := k.Build(p, "", blocks[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(programs[0].Steps(), "grid steps")
	// Output:
	// v4_optblock proposes [128x128x128 256x200x250 300x200x250]
	// 12 grid steps
}
