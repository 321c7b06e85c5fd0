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
