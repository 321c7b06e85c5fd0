package blocking_test

import (
	"fmt"

	"matladder/machine"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// A machine that does not tell what its cores do in a second has no model: the kernel's
// sweep holds there.
func ExampleOf() {
	p := problem.New(1024, 1024, 1024, tile.Float32)
	m := blocking.Of(machine.Device{Kind: machine.CPU, Parallel: 4}, blocking.Setup{})
	fmt.Println(m.Seconds(p, tile.Blocks{M: 128, K: 128, N: 128}))
	fmt.Println(m.Rank(p))
	// Output:
	// 0
	// []
}
