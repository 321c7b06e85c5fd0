package passes

import (
	"slices"

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
		s.Rescaled = rescaling(p, s)
		s.Direct = s.Rescaled != nil || s.IsProduct() && !besideOthers(p, s)
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

// besideOthers reports whether the product of step s would go over rows of an output often while
// other workers write the columns beside them: prefetchers take lines from one for another each time.
func besideOthers(p *plan.Plan, s *plan.Step) bool {
	const often = 8
	r, d := &p.Refs[s.Dst], s.Dots[0]
	b, n := p.Operands[d.B], r.Dim(false)
	if p.Machine.Workers < 2 || p.Machine.Choices.Whole || b.Keep != plan.KeepUnpacked || r.Kind != tile.Out || n < 0 || r.BlocksAlong[n] < 2 {
		return false
	}
	k := d.K1 - d.K0
	run, _, _ := d.Product.Unpacked.Blocking(r.Rows, r.Cols, k, p.StrideOf(b), b.Far)
	return run*often <= k
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

// scalesOf sees what step s, which writes an output once, makes of a product, if
// tiles can do all of it as they write: in this order, with these roundings. It
// returns nil if they cannot.
func scalesOf(p *plan.Plan, s *plan.Step) *plan.Scales {
	dst, d, v := &p.Refs[s.Dst], s.Dots[0], s.Stmt.Value
	if s.Stmt.IsPart() || s.Direct || p.Operands[d.B].Shown.From != nil || d.Product.Whole == nil || !whole(p, s) || tile.Loads(v, dst.Ref) {
		return nil
	}
	x := &plan.Scales{Narrow: dst.Dtype == tile.BFloat16}
	if s.Stmt.Kind == tile.Store && v.Op == tile.OpCast && v.Dtype == tile.BFloat16 && x.Narrow {
		v = v.Args[0]
	}
	switch {
	case v.Dtype != tile.Float32 || !x.Narrow && dst.Dtype != tile.Float32:
		return nil
	case x.Narrow && v == d.Expr && (s.Stmt.Kind == tile.Store || s.Zeroed != nil && always(s.Zeroed)):
		x.Plain = true
		return x
	case s.Stmt.Kind != tile.Store:
		return nil
	}
	repeats := func(e *tile.Expr) bool { return plan.OneRow(e) || plan.OneColumn(e) }
	v, x.Term = plan.Apart(v, tile.OpAdd, repeats)
	var factors []*tile.Expr // the last first
	for {
		rest, by := plan.Apart(v, tile.OpMul, repeats)
		if by == nil {
			break
		}
		v, factors = rest, append(factors, by)
	}
	if v.Op == tile.OpCast && v.Args[0].Dtype == tile.Int32 {
		v = v.Args[0]
	}
	if v != d.Expr || x.Term != nil && !plan.OneRow(x.Term) {
		return nil
	}
	for _, by := range slices.Backward(factors) {
		switch {
		case x.Row == nil && x.Column == nil && plan.OneColumn(by) && !(len(factors) == 1 && plan.OneRow(by)):
			x.Row = by
		case x.Column == nil && x.Last == nil && plan.OneRow(by):
			x.Column = by
		case x.Last == nil && plan.OneColumn(by):
			x.Last = by
		default:
			return nil
		}
	}
	return x
}
