package passes

import (
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
	v, last := plan.Apart(v, tile.OpMul, repeats)
	v, first := plan.Apart(v, tile.OpMul, repeats)
	switch {
	case first == nil && (last == nil || plan.OneRow(last)):
		x.Column = last
	case first == nil:
		x.Row = last
	default:
		x.Row, x.Column = first, last
	}
	if v.Op == tile.OpCast && v.Args[0].Dtype == tile.Int32 {
		v = v.Args[0]
	}
	if v != d.Expr || x.Row != nil && !plan.OneColumn(x.Row) || x.Column != nil && !plan.OneRow(x.Column) || x.Term != nil && !plan.OneRow(x.Term) {
		return nil
	}
	return x
}
