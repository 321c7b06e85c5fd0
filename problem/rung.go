package problem

import "matladder/tile"

// Rung is a kernel, one rung of the ladder of a family, as a value: how it computes the problems
// of one type.
type Rung[P any] struct {
	Number int    // from 1
	Name   string // of its folder
	// RequestsVMEM says that fast memory is requested where blocks need more than the compiler
	// grants. Others keep to that: what does not fit is their lesson.
	RequestsVMEM bool

	// Supports returns why the kernel does not take p, or nil.
	Supports func(p P) error
	// Variants lists the ways the kernel computes p, the plain one, "", first; nil where that is
	// the only one.
	Variants func(p P) []string
	// Blocks proposes block shapes for a machine, clipped to the arrays, equal ones merged.
	Blocks func(p P, m Machine) []tile.Blocks
	// Build writes the kernel for p as programs that run in order inside one launch; usually one.
	Build func(p P, variant string, b tile.Blocks) ([]*tile.Program, error)
}
