package harness

import (
	"matladder/analyze"
	"matladder/kernels"
	"matladder/kernels/blocking"
	"matladder/tile"
)

// withMemory is the point with the fast memory that its programs are to have, where its
// kernel asks for some.
func (p Point) withMemory(m tile.Machine) Point {
	rung, ok := p.Contender.(Rung)
	if !ok || !kernels.Asks(rung.Kernel) || p.Params.VMEMBytes > 0 {
		return p
	}
	programs, err := p.build(p.Problem, p.Variant)
	if err != nil {
		return p // a row will say so
	}
	if counts, err := analyze.Count(programs); err == nil {
		p.Params.VMEMBytes = blocking.AskFor(counts.FastBytes, m)
	}
	return p
}

// sameMemory gives the vendor's own matmul as much fast memory as the kernels beside it
// have at most.
func sameMemory(group []Point) {
	most := int64(0)
	for _, p := range group {
		most = max(most, p.Params.VMEMBytes)
	}
	for i, p := range group {
		if p.isBaseline() {
			group[i].Params.VMEMBytes = most
		}
	}
}
