package foreign_test

import (
	"fmt"

	"matladder/backend/foreign"
	"matladder/problem"
	"matladder/tile"
)

// A function of float32 products is not asked for others.
func ExampleFunction_Supports() {
	f, err := foreign.Function{Name: "mine", Family: problem.MatmulFamily, Asked: problem.New(1, 1, 1, tile.Float32).Asked()}.Complete()
	fmt.Println(err)
	fmt.Println(f.Supports(problem.New(64, 64, 64, tile.Float32)))
	fmt.Println(f.Supports(problem.New(64, 64, 64, tile.Int8)))
	// Output:
	// <nil>
	// <nil>
	// mine computes float32
}
