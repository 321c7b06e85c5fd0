package passes

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// shownOf takes apart an operand that is zero but between two elements of what is contracted,
// dimension dim: attention's values, of which no key is read that no row sees. The product then
// goes from the first to the last, and what is packed stays what the array has.
//
//	select(iota(dim) ≥ from and iota(dim) < to and in_bounds(x, dim), x, 0)
func shownOf(e *tile.Expr, dim int) (x *tile.Expr, s plan.Shown, ok bool) {
	if e.Op != tile.OpSelect || !isNumber(e.Args[2], 0) || e.Args[1].Op != tile.OpLoad || e.Args[1].Ref.Kind != tile.In || !e.Dtype.IsFloat() {
		return nil, s, false
	}
	x = e.Args[1]
	s = plan.Shown{From: tile.Const(0), To: tile.Const(x.Shape[dim])}
	var holds func(c *tile.Expr) bool
	holds = func(c *tile.Expr) bool {
		switch c = unbroadcast(c); c.Op {
		case tile.OpAnd:
			return holds(c.Args[0]) && holds(c.Args[1])
		case tile.OpInBounds: // the product ends there anyway
			return c.Ref == x.Ref && c.Dim == dim
		case tile.OpCompare:
			at, limit := unbroadcast(c.Args[0]), unbroadcast(c.Args[1])
			if at.Op != tile.OpIota || at.Dim != dim || len(at.Shape) != len(x.Shape) || limit.Op != tile.OpIndex {
				return false
			}
			switch c.Cmp {
			case tile.GE:
				s.From = tile.AtLeast(limit.Index, s.From)
				return true
			case tile.LT:
				s.To = tile.AtMost(limit.Index, s.To)
				return true
			}
		}
		return false
	}
	return x, s, holds(e.Args[0])
}

// isNumber reports whether every element of e is x.
func isNumber(e *tile.Expr, x float64) bool {
	e = unbroadcast(e)
	return e.Op == tile.OpConst && e.Value == x
}

// unbroadcast is what e repeats.
func unbroadcast(e *tile.Expr) *tile.Expr {
	for e.Op == tile.OpBroadcast {
		e = e.Args[0]
	}
	return e
}

// showsPart reports whether a product may skip the part of b that shownOf hides. Its a has to be
// computed in each program: chunks that were packed before begin elsewhere.
func showsPart(dot *tile.Expr) bool {
	a := dot.Args[0]
	if a.Op != tile.OpLoad || a.Ref.Kind != tile.Scratch || dot.TransA || dot.TransB {
		return false
	}
	_, _, ok := shownOf(dot.Args[1], 0)
	return ok
}
