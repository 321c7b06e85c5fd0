package passes

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// writes finds the outputs that a product writes once and rounds as it does, and
// those so large that the second-level cache would not hold them until they are
// needed.
func writes(p *plan.Plan) error {
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		if s.Kind != plan.StepCompute {
			return
		}
		s.Factor = rescaling(p, s)
		s.Direct = s.Factor != nil || s.IsProduct()
		if len(s.Dots) != 1 || !p.WrittenOnce(&p.Refs[s.Dst]) {
			return
		}
		r, d := &p.Refs[s.Dst], s.Dots[0]
		if d.Scales = scalesOf(p, s); d.Scales != nil {
			s.Direct = true
		}
		aligned := d.Scales != nil || d.Product.Streams(r.LD) && d.Product.Streams(r.Cols) // rows of every block
		if !aligned || !s.Direct || p.Machine.Layout.Unaligned {
			return
		}
		switch choice := p.Machine.Choices.WriteC; {
		case choice == plan.WriteNonTemporal, choice == plan.WriteByRule && r.ArrayBytes() > p.Machine.L2:
			d.Write = gemm.WriteNonTemporal
		case choice == plan.WriteCopied && d.Scales == nil: // those are in any case
			d.Write = gemm.WriteCopied
		}
	})
	return nil
}

// whole reports whether step s computes whole panels of a product, over all of k at
// once.
func whole(p *plan.Plan, s *plan.Step) bool {
	dst, d := &p.Refs[s.Dst], s.Dots[0]
	a, b := p.Operands[d.A], p.Operands[d.B]
	const whole = 32 // rows and columns of a panel, and elements of a cache line
	for _, r := range []*plan.Matrix{dst, &p.Refs[a.Ref], &p.Refs[b.Ref]} {
		if r.Kind == tile.Scratch {
			if r.Rows%whole != 0 || r.Cols%whole != 0 {
				return false
			}
			continue
		}
		for i, n := range r.Array {
			if size := r.BlockSize(i); n%size != 0 || r.Step(i) != size || size%whole != 0 && size > 1 {
				return false
			}
		}
	}
	return a.Depth >= a.K && b.Depth >= b.K && d.K0 == 0 && d.K1 >= a.K && dst.LD%whole == 0
}
