package cpu

import (
	"slices"

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
func (p *plan) merge(steps []*step) ([]*step, error) {
	var out []*step
	for _, s := range steps {
		var err error
		if s.body, err = p.merge(s.body); err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && p.merges(out[n-1], s) {
			if s, err = p.merged(out[n-1], s); err != nil {
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
func (p *plan) merges(s, t *step) bool {
	if s.kind != stepCompute || t.kind != stepCompute || !s.direct || s.dst == t.dst {
		return false
	}
	r := s.stmt.Ref
	switch {
	case r.Kind != tile.Scratch || !slices.Equal(r.Shape(), t.stmt.Ref.Shape()):
		return false
	case s.stmt.Kind == tile.Accumulate && (s.zeroed == nil || !always(s.zeroed)):
		return false
	case reads(s.stmt.Value, t.stmt.Ref) || reads(t.stmt.Value, t.stmt.Ref):
		return false
	}
	alone := true
	allSteps(p.steps, func(x *step) {
		if x != s && x.kind != stepWhen && (x.dst == s.dst || x != t && reads(x.stmt.Value, r)) {
			alone = false
		}
	})
	return alone && reads(t.stmt.Value, r) && elementwise(t.stmt.Value, r)
}

// elementwise reports whether each element of e depends on the same element of r
// alone.
func elementwise(e *tile.Expr, r *tile.Ref) bool {
	ok := true
	tile.WalkExpr(e, func(e *tile.Expr) {
		if !e.Op.IsElementwise() {
			ok = ok && !slices.ContainsFunc(e.Args, func(x *tile.Expr) bool { return reads(x, r) })
		}
	})
	return ok
}

// merged is t with the product of s in its value.
func (p *plan) merged(s, t *step) (*step, error) {
	stmt := *t.stmt
	stmt.Value = rewriting(func(c *tile.Expr) *tile.Expr {
		if c.Op == tile.OpLoad && c.Ref == s.stmt.Ref {
			return s.stmt.Value
		}
		return c
	}).expr(stmt.Value)
	m := &step{stmt: &stmt, kind: stepCompute, dst: t.dst, zeroed: t.zeroed, through: s.stmt.Ref}
	p.refs[s.dst].merged = true
	return m, p.matchDots(m)
}
