package harness

import (
	"matladder/backend"
	"matladder/internal/each"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// withMemory is the point with the fast memory that its programs are to have, where its
// kernel asks for some.
func (p Point) withMemory(m blocking.Model) Point {
	rung, ok := p.Contender.(Rung)
	if !ok || !rung.Kernel.RequestsVMEM() || p.Params.VMEMBytes > 0 {
		return p
	}
	programs, err := p.build(p.Problem, p.Variant)
	if err != nil {
		return p // a row will say so
	}
	if f, err := model.FootprintOf(programs); err == nil {
		p.Params.VMEMBytes, _, _ = m.VMEM.Request(f, true)
	}
	return p
}

// modelOf is what is known of a device that compiles under params. Where inputs may be
// prefetched, tables of blocks are no help: they are tuned for launches that begin with all
// inputs in main memory.
func modelOf(d machine.Device, params backend.Params) blocking.Model {
	return blocking.Of(d, blocking.Setup{VMEMBytes: params.VMEMBytes, Prefetch: params.Prefetch})
}

// fits reports whether blocks fit the fast memory that a kernel's programs have: those of a
// table may have been tuned under a higher vmem_limit. What cannot be built or counted is
// left to the row, which will say so.
func fits(k kernels.Kernel, p problem.Problem, variant string, b tile.Blocks, m blocking.Model) bool {
	if m.VMEM.Granted == 0 {
		return true
	}
	programs, err := k.Build(p, variant, b)
	if err != nil {
		return true
	}
	f, err := model.FootprintOf(programs)
	if err != nil {
		return true
	}
	_, limit, _ := m.VMEM.Request(f, k.RequestsVMEM())
	return f.Bytes <= limit
}

// sameMemory gives the vendor's own matmul as much fast memory as the kernels beside it
// have at most, and no less than it is granted: a kernel may ask for less.
func sameMemory(group []Point, granted int64) {
	most := each.Most(group, func(p Point) int64 { return p.Params.VMEMBytes })
	for i, p := range group {
		if p.isBaseline() && most > granted {
			group[i].Params.VMEMBytes = most
		}
	}
}
