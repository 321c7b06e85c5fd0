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

// Machine is what a kernel may know of a machine when it proposes block shapes: plain numbers
// and a ranking of shapes, no clock. Package model/blocking makes one of a device.
type Machine struct {
	FastBytes int64                 // fast memory of one worker (VMEM, shared memory, L2); 0 if unknown
	Parallel  int                   // programs that run at once; at least 1
	Align     map[tile.Dtype][2]int // rows and columns of a block should be multiples of these; none if absent
	// Rankings by the kind of machine; nil elsewhere, or if unknown.
	Cores     Ranking // each program runs on a core with caches
	Pipeline  Ranking // a core brings blocks in while it computes
	Registers Ranking // a program keeps its accumulator in registers: a GPU
}

// Ranking lists a few block shapes of a problem that differ from each other, the fastest first
// by a model of the machine. Sides that are given, those that are not 0, stay as they are. nil
// is the ranking of a machine of which nothing is known.
type Ranking func(p Problem, given tile.Blocks) []tile.Blocks

// Rank lists the shapes, none where the model knows nothing of p.
func (r Ranking) Rank(p Problem, given tile.Blocks) []tile.Blocks {
	if r == nil {
		return nil
	}
	return r(p, given)
}

// Rank is the ranking by whichever model the machine has.
func (m Machine) Rank(p Problem) (list []tile.Blocks) {
	for _, r := range []Ranking{m.Cores, m.Pipeline, m.Registers} {
		if list = r.Rank(p, tile.Blocks{}); list != nil {
			break
		}
	}
	return list
}
