package passes

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// maxRepetitions bounds how many steps a loop is written out to.
const maxRepetitions = 4096

// unroll writes a loop out: its body once for each value of its variable, which
// is a constant there, so that slices start where the passes can see.
func unroll(p *plan.Plan, s *tile.Stmt) ([]*tile.Stmt, error) {
	if n := s.Axis.Size * len(s.Body); n > maxRepetitions {
		return nil, p.Unsupported(s.Pos, "loop %s of %d statements in all: at most %d", s.Axis.Name, n, maxRepetitions)
	}
	var out []*tile.Stmt
	for i := range s.Axis.Size {
		at := assignment{s.Axis, i}
		here := tile.Rewriting(func(_, c *tile.Expr) *tile.Expr {
			if c.Index != nil {
				c.Index = at.index(c.Index)
			}
			return c
		})
		for _, stmt := range s.Body {
			if stmt.Kind == tile.When || stmt.Kind == tile.Loop {
				return nil, p.Unsupported(stmt.Pos, "%s inside loop %s", stmt.Kind, s.Axis.Name)
			}
			c := *stmt
			c.Value = here.Expr(stmt.Value)
			at.copying(&c)
			out = append(out, &c)
		}
	}
	return out, nil
}

// assignment replaces a loop variable by a value.
type assignment struct {
	axis  *tile.Axis
	value int
}

func (a assignment) index(x tile.IndexExpr) tile.IndexExpr {
	return tile.Substitute(x, func(axis *tile.Axis) tile.IndexExpr {
		if axis == a.axis {
			return tile.Const(a.value)
		}
		return axis
	}, nil)
}
