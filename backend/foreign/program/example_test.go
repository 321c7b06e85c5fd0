package program_test

import (
	"fmt"

	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/program"
	"matladder/problem"
	"matladder/tile"
)

// A program's shapes are part of it. What runs it would be a backend on XLA, as package
// builtin opens them.
func ExampleNew() {
	file, err := program.Read("testdata/matmul.mlir")
	if err != nil {
		fmt.Println(err)
		return
	}
	device, err := cpu.Open(cpu.Options{NoProbe: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	mine, err := program.New(foreign.Function{Name: "mine", Family: problem.MatmulFamily, Any: true}, file, device)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mine.Supports(problem.New(40, 56, 24, tile.Float32)))
	fmt.Println(mine.Supports(problem.New(40, 56, 64, tile.Float32)))
	// Output:
	// <nil>
	// stablehlo: @main: takes (tensor<40x56xf32>, tensor<56x24xf32>): the problem has (tensor<40x56xf32>, tensor<56x64xf32>), and shapes are part of a program
}
