package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// merge puts a product into the value behind it, where scratch only carries it from
// the one to the other:
//
//	acc = dot(a, b)
//	o = f(acc)          →    o = f(dot(a, b))
//
// A program whose k is one step becomes this by fuse. No block of scratch is then
// written and read again, and what is done for products that are outputs is done
// for o.
func merge(p *plan.Plan, steps []*plan.Step) ([]*plan.Step, error) {
	var out []*plan.Step
	for _, s := range steps {
		var err error
		if s.Body, err = merge(p, s.Body); err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && merges(p, out[n-1], s) {
			if s, err = merged(p, out[n-1], s); err != nil {
				return nil, err
			}
			out = out[:n-1]
		}
		out = append(out, s)
	}
	return out, nil
}

// merges reports whether step s is nothing but a product, which t, right behind it,
// alone reads, each element for the same one of its own destination.
func merges(p *plan.Plan, s, t *plan.Step) bool {
	if s.Kind != plan.StepCompute || t.Kind != plan.StepCompute || !s.IsProduct() || s.Dst == t.Dst {
		return false
	}
	r := s.Stmt.Ref
	switch {
	case slices.Contains(p.Program.Copied(), r) || r.Kind != tile.Scratch || !slices.Equal(r.Shape(), t.Stmt.Ref.Shape()):
		return false
	case s.Stmt.Kind == tile.Accumulate && (s.Zeroed == nil || !always(s.Zeroed)):
		return false
	case tile.Loads(s.Stmt.Value, t.Stmt.Ref) || tile.Loads(t.Stmt.Value, t.Stmt.Ref):
		return false
	}
	alone := true
	plan.AllSteps(p.Steps, func(x *plan.Step) {
		if x != s && x.Kind != plan.StepWhen && (x.Dst == s.Dst || x != t && tile.Loads(x.Stmt.Value, r)) {
			alone = false
		}
	})
	return alone && tile.Loads(t.Stmt.Value, r) && elementwise(t.Stmt.Value, r)
}

// elementwise reports whether each element of e depends on the same element of r
// alone.
func elementwise(e *tile.Expr, r *tile.Ref) bool {
	ok := true
	tile.WalkExpr(e, func(e *tile.Expr) {
		if !e.Op.IsElementwise() {
			ok = ok && !slices.ContainsFunc(e.Args, func(x *tile.Expr) bool { return tile.Loads(x, r) })
		}
	})
	return ok
}

// merged is t with the product of s in its value.
func merged(p *plan.Plan, s, t *plan.Step) (*plan.Step, error) {
	stmt := *t.Stmt
	stmt.Value = tile.Rewriting(func(_, c *tile.Expr) *tile.Expr {
		if c.Op == tile.OpLoad && c.Ref == s.Stmt.Ref {
			return s.Stmt.Value
		}
		return c
	}).Expr(stmt.Value)
	m := &plan.Step{Matched: plan.Matched{Stmt: &stmt, Kind: plan.StepCompute, Dst: t.Dst}, Fused: plan.Fused{Zeroed: t.Zeroed, Through: s.Stmt.Ref}}
	p.Refs[s.Dst].Merged = true
	err := matchDots(p, m)
	for _, d := range m.Dots {
		if was := s.DotOf(d.Expr); was != nil {
			d.Groups = was.Groups
		}
	}
	return m, err
}
