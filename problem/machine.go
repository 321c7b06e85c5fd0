package problem

import "matladder/tile"

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
