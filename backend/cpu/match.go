package cpu

import (
	"strings"

	"matladder/tile"
)

// match turns statements into steps.
func match(p *plan) error {
	steps, err := p.matchAll(p.program.Body)
	p.steps = steps
	return err
}

func (p *plan) matchAll(body []*tile.Stmt) ([]*step, error) {
	var steps []*step
	for _, s := range body {
		if s.Kind == tile.Loop {
			written, err := p.unroll(s)
			if err != nil {
				return nil, err
			}
			some, err := p.matchAll(written)
			if err != nil {
				return nil, err
			}
			steps = append(steps, some...)
			continue
		}
		st := &step{stmt: s}
		switch s.Kind {
		case tile.Fill:
			st.kind, st.dst = stepFill, p.ref(s.Ref)
			if !canHold(s.Ref.Dtype) {
				return nil, p.unsupported(s.Pos, "fill of %s: no arithmetic on %s", s.Ref.Name, s.Ref.Dtype)
			}
		case tile.Store, tile.Accumulate:
			st.kind, st.dst = stepCompute, p.ref(s.Ref)
			if err := p.matchDots(st); err != nil {
				return nil, err
			}
		case tile.When:
			st.kind, st.cond = stepWhen, s.Cond
			var err error
			if st.body, err = p.matchAll(s.Body); err != nil {
				return nil, err
			}
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// matchDots collects the products of a value. They are computed piece by
// piece, each piece for the same piece of the destination.
func (p *plan) matchDots(st *step) error {
	s := st.stmt
	var err error
	tile.WalkExpr(s.Value, func(e *tile.Expr) {
		if e.Op != tile.OpDot || st.dotOf(e) != nil || err != nil {
			return
		}
		shape := s.Ref.Shape()
		if len(shape) != 2 || e.Shape[0] != shape[0] || e.Shape[1] != shape[1] {
			err = p.unsupported(e.Pos, "dot of shape %v in a value for %s %v", e.Shape, s.Ref.Name, shape)
		}
		st.dots = append(st.dots, &dot{expr: e})
	})
	st.direct = s.Value.Op == tile.OpDot && s.Value.Dtype == s.Ref.Dtype && !s.IsPart()
	return err
}

func (s *step) dotOf(e *tile.Expr) *dot {
	for _, d := range s.dots {
		if d.expr == e {
			return d
		}
	}
	return nil
}

// allSteps calls f on every step, outer ones first.
func allSteps(steps []*step, f func(*step)) {
	for _, s := range steps {
		f(s)
		allSteps(s.body, f)
	}
}

func (p *plan) tellBody() []string {
	var lines []string
	for _, s := range p.program.Body {
		lines = append(lines, strings.Split(s.String(), "\n")...)
	}
	return lines
}
