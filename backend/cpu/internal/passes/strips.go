package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// inStrips lets steps of which one multiplies what another made go through their rows
// together, a strip at a time, so that what passes between them stays in the caches next
// to the core. Attention is such a chain:
//
//	s = dot(q, k)                  for each strip of rows:
//	m = max(m, row_max(s))           s, m, s, acc of the strip
//	s = exp2(s - m)            →
//	acc = acc + dot(s, v)
func inStrips(p *plan.Plan, steps []*plan.Step) []*plan.Step {
	var out []*plan.Step
	for len(steps) > 0 {
		group, n := leading(p, steps)
		if chained(p, group) {
			out = append(out, stripOf(p, group))
			steps = steps[n:]
			continue
		}
		s := steps[0]
		if s.Kind == plan.StepWhen {
			s.Body = inStrips(p, s.Body)
		}
		out, steps = append(out, s), steps[1:]
	}
	return out
}

// leading are the steps, of the first n, that may go through rows together.
func leading(p *plan.Plan, steps []*plan.Step) (group []*plan.Step, n int) {
	for _, s := range steps {
		members := []*plan.Step{s}
		if s.Kind == plan.StepRowLoop {
			members = s.Body
		}
		for _, x := range members {
			if !stripes(p, x) || len(group) > 0 && p.Refs[x.Dst].Rows != p.Refs[group[0].Dst].Rows {
				return group, n
			}
			for _, y := range group {
				if !rowwise(x.Stmt.Value, y.Stmt.Ref) || !rowwise(y.Stmt.Value, x.Stmt.Ref) {
					return group, n
				}
			}
		}
		group, n = append(group, members...), n+1
	}
	return group, n
}

// stripes reports whether s can compute some rows after others: what its products read
// must not be packed again for each.
func stripes(p *plan.Plan, s *plan.Step) bool {
	if s.Kind != plan.StepCompute || s.Stmt.IsPart() || !rowwise(s.Stmt.Value, s.Stmt.Ref) {
		return false
	}
	for _, d := range s.Dots {
		if b := p.Operands[d.B]; b.Keep == plan.KeepPiece || b.Keep == plan.KeepUnpacked || d.Scales != nil && !d.Scales.Plain {
			return false
		}
	}
	return true
}

// chained reports whether one of steps multiplies what one ahead of it made.
func chained(p *plan.Plan, steps []*plan.Step) bool {
	for i, s := range steps {
		for _, d := range s.Dots {
			if slices.ContainsFunc(steps[:i], func(made *plan.Step) bool { return p.Operands[d.A].Ref == made.Dst }) {
				return true
			}
		}
	}
	return false
}

// stripTarget is how much of what a strip makes of each ref is to stay in caches.
const stripTarget = 96 << 10

// stripOf makes one step of steps, and chooses how many rows it does at once: whole
// panels of what is multiplied.
func stripOf(p *plan.Plan, steps []*plan.Step) *plan.Step {
	lanes, widest := 1, 1
	for _, s := range steps {
		r := &p.Refs[s.Dst]
		widest = max(widest, r.LD*r.Dtype.Bits()/8)
		for _, d := range s.Dots {
			lanes = plan.LCM(lanes, p.Operands[d.A].Packing.Lanes)
		}
	}
	g := &plan.Step{Matched: plan.Matched{Kind: plan.StepStrips, Body: steps}, Grouped: plan.Grouped{Strip: max(1, stripTarget/(lanes*widest)) * lanes, Band: bandOf(p, steps)}}
	for _, s := range steps {
		s.Strip = g.Strip
	}
	return g
}

// rescaling sees a step that multiplies each row of its destination by one number and
// adds a product:
//
//	acc = acc · column + dot(a, b)
//
// The micro-kernel adds to what is there. It returns acc · column.
func rescaling(p *plan.Plan, s *plan.Step) *tile.Expr {
	if s.Kind != plan.StepCompute || len(s.Dots) != 1 {
		return nil
	}
	v, r := s.Stmt.Value, s.Stmt.Ref
	if s.Stmt.Kind != tile.Store || s.Stmt.IsPart() || r.Kind != tile.Scratch || r.Dtype != tile.Float32 || v.Op != tile.OpAdd {
		return nil
	}
	for i, x := range v.Args {
		if x != s.Dots[0].Expr || x.Dtype != tile.Float32 {
			continue
		}
		rest, by := plan.Apart(v.Args[1-i], tile.OpMul, plan.OneColumn)
		if by != nil && rest.Op == tile.OpLoad && rest.Ref == r && !tile.Loads(by, r) && p.Refs[s.Dst].Rows > 1 {
			return v.Args[1-i]
		}
	}
	return nil
}
