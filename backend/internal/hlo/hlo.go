// Package hlo reads what XLA made of a program: an optimized HLO module, in the
// binary form in which PJRT plugins hand it out.
//
//  1. Read takes the bytes of a module (format hlo) or of one with its settings
//     (hlo_with_config): protocol buffers, of which it knows the few fields that
//     it needs and skips the others (wire.go).
//  2. Loops, Body and Arrays find the loop in which launches are timed, what
//     it repeats, and in which memory its arrays stay (loop.go).
//  3. Residents are the arguments that are copied nearer to the core.
//  4. Collectives are what devices exchange, and by which algorithm (collective.go).
//  5. Overrides and Spread write options of the compiler, which go the other way
//     (overrides.go).
//
// What the package does not do: write, run or change a program, or know what an
// instruction computes.
package hlo

import "fmt"

// Module is a compiled program.
type Module struct {
	Name         string
	Computations []*Computation
	Entry        *Computation
}

// Computation is a list of instructions, operands first.
type Computation struct {
	Name         string
	Instructions []*Instruction
	Parameters   []Shape
	Result       Shape

	id int64
}

// Instruction is one operation.
type Instruction struct {
	Name, Opcode string
	Target       string    // of a custom call
	Shape        Shape     // of the result
	Operands     []string  // names of instructions of the same computation
	Config       string    // what the backend notes of it, mostly JSON
	Thread       string    // of an async-start: the unit that runs it meanwhile, where that is not the core
	Groups       [][]int64 // of a collective: the devices that exchange with each other

	id           int64
	operands     []int64
	computations []int64
	parameter    int64      // which, of a parameter
	dims         dimensions // of a product
	prefetch     bool       // a copy that runs behind the launch before
}

// Shape is an array, or a tuple of shapes.
type Shape struct {
	Element    int64 // the type of an element, as xla_data.proto numbers them
	Dimensions []int64
	Space      int64 // of memory, as the device numbers them; 0 is its main memory
	Tuple      []Shape
}

// Read reads a module. format is what the plugin says of it: hlo or hlo_with_config.
func Read(format string, text []byte) (*Module, error) {
	if format == "hlo_with_config" {
		inner, err := first(text, 1)
		if err != nil {
			return nil, fmt.Errorf("hlo: %w", err)
		}
		text = inner
	} else if format != "hlo" {
		return nil, fmt.Errorf("hlo: unknown format %q (known: hlo, hlo_with_config)", format)
	}
	m, err := readModule(text)
	if err != nil {
		return nil, fmt.Errorf("hlo: %w", err)
	}
	return m, nil
}
