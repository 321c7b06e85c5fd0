package blocking_test

import (
	"fmt"

	"matladder/kernels/blocking"
	"matladder/problem"
	"matladder/tile"
)

// A machine that does not tell what its cores do in a second has no model: the kernel's
// sweep holds there.
func ExampleSeconds() {
	p := problem.New(1024, 1024, 1024, tile.Float32)
	fmt.Println(blocking.Seconds(p, tile.Machine{Parallel: 4}, tile.Blocks{M: 128, K: 128, N: 128}))
	fmt.Println(blocking.Candidates(p, tile.Machine{Parallel: 4}))
	// Output:
	// 0
	// []
}
