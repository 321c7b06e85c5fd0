package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// fuseRowLoops lets steps without products that follow each other go along rows
// together, where that changes no value: a row that several need is read once.
//
//	s = f(x)             for each row r:
//	q = g(x, s)     →      s[r] = f(x[r])
//	                       q[r] = g(x[r], s[r])
func fuseRowLoops(steps []*plan.Step) []*plan.Step {
	var out []*plan.Step
	for _, s := range steps {
		s.Body = fuseRowLoops(s.Body)
		n := len(out)
		if n == 0 || !alongRows(out[n-1]) || !sameRows(out[n-1], s) {
			out = append(out, s)
			continue
		}
		if last := out[n-1]; last.Kind == plan.StepCompute {
			out[n-1] = &plan.Step{Matched: plan.Matched{Kind: plan.StepRowLoop, Body: []*plan.Step{last}}}
		}
		out[n-1].Body = append(out[n-1].Body, s)
	}
	for _, s := range out {
		if s.Kind == plan.StepRowLoop {
			size(s)
		}
	}
	return out
}

// stripBytes is how much of what steps read along rows stays in L1 from one to the
// next, with as much that is on its way.
const stripBytes = 32 << 10

// size chooses how many rows steps that go along rows together do at once: more than
// one, so that what the next needs of a row is there when it begins.
func size(s *plan.Step) {
	widest := 1
	for _, x := range s.Body {
		tile.WalkExpr(x.Stmt.Value, func(e *tile.Expr) {
			if e.Op == tile.OpLoad && len(e.Shape) > 0 {
				widest = max(widest, e.Shape[len(e.Shape)-1]*e.Dtype.Bits()/8)
			}
		})
	}
	s.Strip = min(max(stripBytes/widest, 1), 64)
	for _, x := range s.Body {
		x.Strip = s.Strip
	}
}

// alongRows reports whether s goes along rows and nothing else.
func alongRows(s *plan.Step) bool {
	return s.Kind == plan.StepRowLoop || s.Kind == plan.StepCompute && len(s.Dots) == 0
}

// sameRows reports whether s, and t behind it, can go along rows together: row r of t reads of s
// row r alone, and s reads nothing that t computes.
func sameRows(s, t *plan.Step) bool {
	if s.Kind == plan.StepRowLoop {
		return !slices.ContainsFunc(s.Body, func(x *plan.Step) bool { return !sameRows(x, t) })
	}
	return t.Kind == plan.StepCompute && len(t.Dots) == 0 && s.Dst != t.Dst &&
		!tile.Loads(s.Stmt.Value, t.Stmt.Ref) && rowwise(t.Stmt.Value, s.Stmt.Ref)
}

// rowwise reports whether each row of e depends on the same row of r alone.
func rowwise(e *tile.Expr, r *tile.Ref) bool {
	if e.Op == tile.OpLoad || !tile.Loads(e, r) {
		return true
	}
	switch {
	case e.Op.IsElementwise():
	case e.Op == tile.OpDot && !e.TransA && !tile.Loads(e.Args[1], r):
	case (e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum) && plan.AlongRow(e) && len(e.Shape) > 1:
	case e.Op == tile.OpSlice && e.Dim == len(e.Shape)-1:
	case e.Op == tile.OpBroadcast && len(e.Shape) == len(e.Args[0].Shape) && e.Shape[0] == e.Args[0].Shape[0]:
	default:
		return false
	}
	return !slices.ContainsFunc(e.Args, func(arg *tile.Expr) bool { return !rowwise(arg, r) })
}
