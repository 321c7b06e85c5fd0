package passes

import (
	"fmt"
	"slices"

	"matladder/tile"
)

// canonicalize writes the program in a simpler way that means the same, so that later passes
// have less to know:
//
//  1. Where the grid ends early, all of it runs, and what is left out does nothing.
//  2. What steps compute piece by piece stands alone where another piece needs it:
//     a product whose rows are summed, an operand that is computed, and a value that
//     reads its own destination elsewhere go by way of scratch.
//
// For example, s = softmax of a product:
//
//	s = exp(dot(a, b) - row_max(dot(a, b)))   →   t = dot(a, b)
//	                                              s = exp(t - row_max(t))
func canonicalize(p *tile.Program) *tile.Program {
	s := spiller{program: p.Predicated()}
	body := s.body(s.program.Body)
	if len(s.refs) > 0 {
		q := *s.program
		q.Refs, q.Body = append(slices.Clone(q.Refs), s.refs...), body
		s.program = &q
	}
	return s.program
}

// spiller adds scratch to a program.
type spiller struct {
	program *tile.Program
	refs    []*tile.Ref // what was added
	before  []*tile.Stmt
	pos     tile.Pos
}

func (s *spiller) body(body []*tile.Stmt) []*tile.Stmt {
	var out []*tile.Stmt
	for _, stmt := range body {
		c := *stmt
		s.before, s.pos = nil, stmt.Pos
		switch stmt.Kind {
		case tile.When, tile.Loop:
			c.Body = s.body(stmt.Body)
			out = append(out, &c)
			continue
		case tile.Store, tile.Accumulate:
			c.Value = s.value(stmt.Value)
			if tile.Loads(c.Value, c.Ref) && !elementwise(c.Value, c.Ref) {
				c.Value = s.spill(c.Value)
			}
		}
		out = append(append(out, s.before...), &c)
	}
	return out
}

// value is e with the products in it that steps cannot compute with it.
func (s *spiller) value(e *tile.Expr) *tile.Expr {
	moved := map[*tile.Expr]bool{} // products of which not the same element alone is needed
	tile.WalkExpr(e, func(x *tile.Expr) {
		if x.Op.IsElementwise() {
			return
		}
		for _, arg := range x.Args {
			tile.WalkExpr(arg, func(y *tile.Expr) {
				if y.Op == tile.OpDot {
					moved[y] = true
				}
			})
		}
	})
	changed := tile.Rewriting(func(from, c *tile.Expr) *tile.Expr {
		if c.Op == tile.OpDot {
			if !isFactor(c.Args[0]) {
				c.Args[0] = s.spill(c.Args[0])
			}
			if !isFactor(c.Args[1]) && !showsPart(c) {
				c.Args[1] = s.spill(c.Args[1])
			}
		}
		if moved[from] {
			return s.spill(c)
		}
		return c
	}).Expr(e)
	if len(s.before) == 0 {
		return e
	}
	return changed
}

// isFactor reports whether products take e as it is: a ref, part of one, or either as
// a dtype that is no narrower. Scales are no operands.
func isFactor(e *tile.Expr) bool {
	if e.Op == tile.OpCast && e.Dtype.Bits() >= e.Args[0].Dtype.Bits() && e.Args[0].Dtype != tile.Float8E8M0FNU {
		e = e.Args[0]
	}
	if e.Op == tile.OpSlice {
		e = e.Args[0]
	}
	return e.Op == tile.OpLoad
}

// spill stores e in scratch of its own and returns what is read from there.
func (s *spiller) spill(e *tile.Expr) *tile.Expr {
	r := &tile.Ref{Name: fmt.Sprintf("%s.%d", e.Op, len(s.refs)), Kind: tile.Scratch, Dtype: e.Dtype, Array: e.Shape, Block: e.Shape, Pos: s.pos}
	s.refs = append(s.refs, r)
	s.before = append(s.before, &tile.Stmt{Kind: tile.Store, Ref: r, Value: e, Pos: s.pos})
	return &tile.Expr{Op: tile.OpLoad, Ref: r, Dtype: e.Dtype, Shape: e.Shape, Pos: e.Pos}
}
