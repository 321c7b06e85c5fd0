package cpu

import "matladder/tile"

// goAbreast lets steps without products that follow each other go along rows
// together, where that changes no value: a row that several need is read once.
//
//	s = f(x)             for each row r:
//	q = g(x, s)     →      s[r] = f(x[r])
//	                       q[r] = g(x[r], s[r])
func goAbreast(steps []*step) []*step {
	var out []*step
	for _, s := range steps {
		s.body = goAbreast(s.body)
		n := len(out)
		if n == 0 || !out[n-1].alongRows() || !abreast(out[n-1], s) {
			out = append(out, s)
			continue
		}
		if last := out[n-1]; last.kind == stepCompute {
			out[n-1] = &step{kind: stepAbreast, body: []*step{last}}
		}
		out[n-1].body = append(out[n-1].body, s)
	}
	for _, s := range out {
		if s.kind == stepAbreast {
			s.size()
		}
	}
	return out
}

// stripBytes is how much of what steps read along rows stays in L1 from one to the
// next, with as much that is on its way.
const stripBytes = 8 << 10

// size chooses how many rows steps that go along rows together do at once: more than
// one, so that what the next needs of a row is there when it begins.
func (s *step) size() {
	widest := 1
	for _, x := range s.body {
		tile.WalkExpr(x.stmt.Value, func(e *tile.Expr) {
			if e.Op == tile.OpLoad && len(e.Shape) > 0 {
				widest = max(widest, e.Shape[len(e.Shape)-1]*e.Dtype.Bits()/8)
			}
		})
	}
	s.strip = min(max(stripBytes/widest, 1), 16)
	for _, x := range s.body {
		x.strip = s.strip
	}
}

// alongRows reports whether s goes along rows and nothing else.
func (s *step) alongRows() bool {
	return s.kind == stepAbreast || s.kind == stepCompute && len(s.dots) == 0
}

// abreast reports whether row r of what t computes needs, of what s does ahead of
// it, row r alone, and s nothing that t computes.
func abreast(s, t *step) bool {
	if s.kind == stepAbreast {
		for _, x := range s.body {
			if !abreast(x, t) {
				return false
			}
		}
		return true
	}
	return t.kind == stepCompute && len(t.dots) == 0 && s.dst != t.dst &&
		!reads(s.stmt.Value, t.stmt.Ref) && rowwise(t.stmt.Value, s.stmt.Ref)
}

// rowwise reports whether each row of e depends on the same row of r alone.
func rowwise(e *tile.Expr, r *tile.Ref) bool {
	if e.Op == tile.OpLoad || !reads(e, r) {
		return true
	}
	switch {
	case e.Op.IsElementwise():
	case e.Op == tile.OpDot && !e.TransA && !reads(e.Args[1], r):
	case (e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum) && alongRow(e) && len(e.Shape) > 1:
	case e.Op == tile.OpSlice && e.Dim == len(e.Shape)-1:
	case e.Op == tile.OpBroadcast && len(e.Shape) == len(e.Args[0].Shape) && e.Shape[0] == e.Args[0].Shape[0]:
	default:
		return false
	}
	for _, arg := range e.Args {
		if !rowwise(arg, r) {
			return false
		}
	}
	return true
}

// abreast executes steps strip by strip of rows. What one writes may have fewer rows than what
// another does, where a block overhangs.
func (w *worker) abreast(steps []*step) {
	rows := 0
	for _, s := range steps {
		rows = max(rows, w.places[s.dst].rows)
	}
	for row := 0; row < rows; row += steps[0].strip {
		for _, s := range steps {
			at := &w.places[s.dst]
			w.write(s, w.fresh(s), row, min(row+s.strip, at.rows), 0, at.cols)
		}
	}
}
