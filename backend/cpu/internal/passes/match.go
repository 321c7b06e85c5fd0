package passes

import (
	"matladder/backend/cpu/internal/epilogue"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// match turns statements into steps.
func match(p *plan.Plan) error {
	steps, err := matchAll(p, p.Program.Body)
	p.Steps = steps
	return err
}

func matchAll(p *plan.Plan, body []*tile.Stmt) ([]*plan.Step, error) {
	var steps []*plan.Step
	for _, s := range body {
		if s.Kind == tile.Loop {
			if st := grouped(p, s); st != nil {
				steps = append(steps, st)
				continue
			}
			written, err := unroll(p, s)
			if err != nil {
				return nil, err
			}
			some, err := matchAll(p, written)
			if err != nil {
				return nil, err
			}
			steps = append(steps, some...)
			continue
		}
		st := &plan.Step{Matched: plan.Matched{Stmt: s}}
		switch s.Kind {
		case tile.Start, tile.Wait, tile.WaitSent, tile.Signal, tile.Await:
			st.Kind, st.Cond = plan.StepWhen, tile.All() // it has neither destination nor value
		case tile.Fill:
			st.Kind, st.Dst = plan.StepFill, p.Number(s.Ref)
			if !epilogue.CanHold(s.Ref.Dtype) {
				return nil, p.Unsupported(s.Pos, "fill of %s: no arithmetic on %s", s.Ref.Name, s.Ref.Dtype)
			}
		case tile.Store, tile.Accumulate:
			st.Kind, st.Dst = plan.StepCompute, p.Number(s.Ref)
			if err := matchDots(p, st); err != nil {
				return nil, err
			}
		case tile.When:
			st.Kind, st.Cond = plan.StepWhen, s.Cond
			var err error
			if st.Body, err = matchAll(p, s.Body); err != nil {
				return nil, err
			}
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// matchDots collects the products of a value. They are computed piece by
// piece, each piece for the same piece of the destination.
func matchDots(p *plan.Plan, st *plan.Step) error {
	s := st.Stmt
	var err error
	tile.WalkExpr(s.Value, func(e *tile.Expr) {
		if e.Op != tile.OpDot || st.DotOf(e) != nil || err != nil {
			return
		}
		shape := s.Ref.Shape()
		if len(shape) != 2 || e.Shape[0] != shape[0] || e.Shape[1] != shape[1] {
			err = p.Unsupported(e.Pos, "dot of shape %v in a value for %s %v", e.Shape, s.Ref.Name, shape)
		}
		st.Dots = append(st.Dots, &plan.Dot{Expr: e})
	})
	return err
}

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
