package cpu

import (
	"fmt"

	"matladder/tile"
)

// fuse takes out each fill with zero, conditional or not, that stands right
// before an accumulation into the same ref, and lets the accumulation store
// where the fill would have happened: the micro-kernel then never reads what
// it would add zero to. Before that, what is done in every program loses its
// condition; after it, products go into the values that alone read them, and
// values of the same rows go along them together.
func fuse(p *plan) error {
	p.steps = fuseAll(unconditional(p.steps))
	var err error
	p.steps, err = p.merge(p.steps)
	p.steps = goAbreast(p.steps)
	return err
}

// unconditional puts what a condition that holds in every program is for in its
// place.
func unconditional(steps []*step) []*step {
	var out []*step
	for _, s := range steps {
		s.body = unconditional(s.body)
		if s.kind == stepWhen && always(s.cond) {
			out = append(out, s.body...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// always reports whether c holds in every program because it asks nothing that
// differs between them.
func always(c tile.Cond) bool {
	same := true
	for _, x := range tile.Compared(c) {
		tile.WalkIndex(x, func(x tile.IndexExpr) {
			switch x := x.(type) {
			case *tile.Axis:
				same = same && x.Size == 1
			case tile.Lookup:
				same = false
			}
		})
	}
	return same && tile.EvalCond(c, origin{})
}

// origin is the first program of any grid.
type origin struct{}

func (origin) ProgramID(*tile.Axis) int      { return 0 }
func (origin) TableValue(*tile.Ref, int) int { return 0 }

func fuseAll(steps []*step) []*step {
	var out []*step
	for _, s := range steps {
		s.body = fuseAll(s.body)
		if n := len(out); n > 0 && s.kind == stepCompute && s.stmt.Kind == tile.Accumulate && s.zeroed == nil {
			if cond := zeroes(out[n-1], s.dst); cond != nil && !reads(s.stmt.Value, s.stmt.Ref) {
				s.zeroed = cond
				out = out[:n-1]
			}
		}
		out = append(out, s)
	}
	return out
}

// zeroes returns when step s does nothing but fill ref dst with zero; nil if it
// is something else.
func zeroes(s *step, dst int) tile.Cond {
	switch {
	case s.kind == stepFill && s.dst == dst && s.stmt.Value.Value == 0:
		return tile.All()
	case s.kind == stepWhen && len(s.body) == 1 && s.body[0].kind == stepFill && zeroes(s.body[0], dst) != nil:
		return s.cond
	}
	return nil
}

func reads(e *tile.Expr, r *tile.Ref) bool {
	found := false
	tile.WalkExpr(e, func(e *tile.Expr) { found = found || e.Op == tile.OpLoad && e.Ref == r })
	return found
}

func (p *plan) tellFused() []string {
	var lines []string
	for _, s := range p.shown() {
		if s.kind == stepFill {
			lines = append(lines, fmt.Sprintf("fill of %s: stays a pass of its own", s.name))
			continue
		}
		if s.through != nil {
			lines = append(lines, fmt.Sprintf("the product for %s goes into the value of %s, which alone reads it", s.through.Name, s.name))
		}
		if s.beside != "" {
			lines = append(lines, fmt.Sprintf("%s goes along rows together with %s", s.name, s.beside))
		}
		if s.zeroed == nil {
			continue
		}
		line := "the zeroing goes into the accumulation: "
		if s.times > 1 {
			line = "the zeroing goes into the first accumulation of the loop: "
		}
		if where := s.zeroed.String(); where == tile.All().String() {
			line += "it stores " + s.name
		} else {
			line += fmt.Sprintf("where %s it stores %s, elsewhere it adds", where, s.name)
		}
		lines = append(lines, line)
	}
	return or(lines, "nothing to fuse")
}
