package cpu

import (
	"fmt"
	"strings"

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
func (p *plan) inStrips(steps []*step) []*step {
	var out []*step
	for len(steps) > 0 {
		group, n := p.leading(steps)
		if chained(p, group) {
			out = append(out, p.strip(group))
			steps = steps[n:]
			continue
		}
		s := steps[0]
		if s.kind == stepWhen {
			s.body = p.inStrips(s.body)
		}
		out, steps = append(out, s), steps[1:]
	}
	return out
}

// leading are the steps, of the first n, that may go through rows together.
func (p *plan) leading(steps []*step) (group []*step, n int) {
	for _, s := range steps {
		members := []*step{s}
		if s.kind == stepAbreast {
			members = s.body
		}
		for _, x := range members {
			if !p.stripes(x) || len(group) > 0 && p.refs[x.dst].rows != p.refs[group[0].dst].rows {
				return group, n
			}
			for _, y := range group {
				if !rowwise(x.stmt.Value, y.stmt.Ref) || !rowwise(y.stmt.Value, x.stmt.Ref) {
					return group, n
				}
			}
		}
		group, n = append(group, members...), n+1
	}
	return group, n
}

// stripes reports whether s can compute some rows after others: what its products read
// must not be packed anew for each.
func (p *plan) stripes(s *step) bool {
	if s.kind != stepCompute || s.stmt.IsPart() || !rowwise(s.stmt.Value, s.stmt.Ref) {
		return false
	}
	for _, d := range s.dots {
		if b := p.operands[d.b]; b.keep == keepPiece || b.keep == keepUnpacked || d.scales != nil {
			return false
		}
	}
	return true
}

// chained reports whether one of steps multiplies what one ahead of it made.
func chained(p *plan, steps []*step) bool {
	for i, s := range steps {
		for _, d := range s.dots {
			for _, made := range steps[:i] {
				if p.operands[d.a].ref == made.dst {
					return true
				}
			}
		}
	}
	return false
}

// stripTarget is how much of what a strip makes of each ref is to stay in caches.
const stripTarget = 96 << 10

// strip makes one step of steps, and chooses how many rows it does at once: whole
// panels of what is multiplied.
func (p *plan) strip(steps []*step) *step {
	lanes, widest := 1, 1
	for _, s := range steps {
		r := &p.refs[s.dst]
		widest = max(widest, r.ld*r.Dtype.Bits()/8)
		for _, d := range s.dots {
			lanes = lcm(lanes, p.operands[d.a].packing.lanes)
		}
	}
	g := &step{kind: stepStrips, body: steps, strip: max(1, stripTarget/(lanes*widest)) * lanes}
	for _, s := range steps {
		s.strip = g.strip
	}
	return g
}

// strips executes steps strip by strip of rows.
func (w *worker) strips(g *step) {
	rows := 0
	for _, s := range g.body {
		rows = max(rows, w.places[s.dst].rows)
	}
	for row := 0; row < rows; row += g.strip {
		for _, s := range g.body {
			w.computeRows(s, row, min(row+g.strip, w.places[s.dst].rows))
		}
	}
}

func (p *plan) tellStrips() []string {
	var lines []string
	allSteps(p.steps, func(g *step) {
		if g.kind != stepStrips {
			return
		}
		var names []string
		for _, s := range g.body {
			names = append(names, s.stmt.Ref.Name)
		}
		lines = append(lines, fmt.Sprintf("%s go through rows together, %d at a time: what one multiplies another has made", strings.Join(names, ", "), min(g.strip, p.refs[g.body[0].dst].rows)))
	})
	return lines
}

// rescaling sees a step that multiplies each row of its destination by one number and
// adds a product:
//
//	acc = acc · column + dot(a, b)
//
// The micro-kernel adds to what is there, and rows whose factor is 1 stay as they are: a
// running softmax has a new largest score less and less often. It returns the factor.
func (p *plan) rescaling(s *step) *tile.Expr {
	if s.kind != stepCompute || len(s.dots) != 1 {
		return nil
	}
	v, r := s.stmt.Value, s.stmt.Ref
	if s.stmt.Kind != tile.Store || s.stmt.IsPart() || r.Kind != tile.Scratch || r.Dtype != tile.Float32 || v.Op != tile.OpAdd {
		return nil
	}
	for i, x := range v.Args {
		if x != s.dots[0].expr || x.Dtype != tile.Float32 {
			continue
		}
		rest, by := apart(v.Args[1-i], tile.OpMul, oneColumn)
		if by != nil && rest.Op == tile.OpLoad && rest.Ref == r && !reads(by, r) && p.refs[s.dst].rows > 1 {
			return by.Args[0]
		}
	}
	return nil
}

// rescale multiplies rows of s's destination by their factors.
func (w *worker) rescale(s *step, row0, row1 int) {
	at, ld := &w.places[s.dst], w.plan.refs[s.dst].ld
	dst := view[float32](w.data[s.dst])[at.off:]
	for row := row0; row < row1; row += vectorLanes {
		for i, by := range s.rescaled(&w.frame, row, min(vectorLanes, row1-row)) {
			if by != 1 {
				x := dst[(row+i)*ld:][:at.cols]
				w.plan.loops.Scale(x, x, by)
			}
		}
	}
}
