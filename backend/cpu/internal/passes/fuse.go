package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// fuse takes out each fill with zero, conditional or not, that stands right
// before an accumulation into the same ref, and lets the accumulation store
// where the fill would have happened: the micro-kernel then never reads what
// it would add zero to. Before that, what is done in every program loses its
// condition; after it, products go into the values that alone read them, and
// values of the same rows go along them together.
func fuse(p *plan.Plan) error {
	p.Steps = fuseAll(unconditional(p.Steps))
	var err error
	p.Steps, err = merge(p, p.Steps)
	p.Steps = fuseRowLoops(p.Steps)
	return err
}

// unconditional replaces each condition that holds in every program by the steps inside it.
func unconditional(steps []*plan.Step) []*plan.Step {
	var out []*plan.Step
	for _, s := range steps {
		s.Body = unconditional(s.Body)
		if s.Kind == plan.StepWhen && s.Stmt.Kind == tile.When && always(s.Cond) {
			out = append(out, s.Body...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// always reports whether c holds in every program because it asks nothing that
// differs between them.
func always(c tile.Cond) bool {
	xs := tile.Compared(c)
	moves := slices.ContainsFunc(tile.AxesIn(xs...), func(a *tile.Axis) bool { return a.Size > 1 })
	return !moves && tile.TableFree(xs...) && tile.EvalCond(c, tile.Everywhere(0))
}

func fuseAll(steps []*plan.Step) []*plan.Step {
	var out []*plan.Step
	for _, s := range steps {
		s.Body = fuseAll(s.Body)
		if n := len(out); n > 0 && s.Kind == plan.StepCompute && s.Stmt.Kind == tile.Accumulate && s.Zeroed == nil {
			if cond := zeroes(out[n-1], s.Dst); cond != nil && !tile.Loads(s.Stmt.Value, s.Stmt.Ref) {
				s.Zeroed = cond
				out = out[:n-1]
			}
		}
		out = append(out, s)
	}
	return out
}

// zeroes returns when step s does nothing but fill ref dst with zero; nil if it
// is something else.
func zeroes(s *plan.Step, dst int) tile.Cond {
	switch {
	case s.Kind == plan.StepFill && s.Dst == dst && s.Stmt.Value.Value == 0:
		return tile.All()
	case s.Kind == plan.StepWhen && len(s.Body) == 1 && s.Body[0].Kind == plan.StepFill && zeroes(s.Body[0], dst) != nil:
		return s.Cond
	}
	return nil
}
