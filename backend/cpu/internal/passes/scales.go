package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

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
