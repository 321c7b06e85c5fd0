package plan

import (
	"fmt"

	"matladder/backend/cpu/internal/gemm"
)

// A Routine is a micro-kernel that a product of the plan calls.
type Routine struct {
	Name    string // in assembly; "" where loops in Go multiply, or B is widened as it is read
	Product string // a·b: its path, and how B is read
}

// Routines are those of all products, each once.
func (p *Plan) Routines() (list []Routine) {
	p.EachDot(func(_ ShownStep, d *Dot) {
		a, b := p.Operands[d.A], p.Operands[d.B]
		reads := p.readsOf(d.B)
		if len(reads) == 0 {
			reads = []gemm.ReadB{gemm.ReadPacked}
		}
		for _, read := range reads {
			what := fmt.Sprintf("%s·%s: %s, %s %s", p.Refs[a.Ref].Name, p.Refs[b.Ref].Name, d.Product.Name, p.Refs[b.Ref].Name, strategyOf(read).what)
			list = appendNew(list, Routine{d.Product.Routine(read), what})
		}
	})
	return list
}
