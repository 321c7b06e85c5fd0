package tile

import (
	"slices"

	"matladder/internal/each"
)

// WalkExpr calls f on e and every expression inside it, operands first, each
// once even if it is shared.
func WalkExpr(e *Expr, f func(*Expr)) {
	var seen exprSet
	walkExpr(e, f, &seen)
}

func walkExpr(e *Expr, f func(*Expr), seen *exprSet) {
	if !seen.add(e) {
		return
	}
	for _, a := range e.Args {
		walkExpr(a, f, seen)
	}
	f(e)
}

// exprSet is a set of expressions; most have few.
type exprSet struct {
	few  [16]*Expr
	n    int
	many map[*Expr]struct{}
}

// add reports whether e was not in the set yet.
func (s *exprSet) add(e *Expr) bool {
	for _, have := range s.few[:s.n] {
		if have == e {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = e
		s.n++
		return true
	}
	if _, ok := s.many[e]; ok {
		return false
	}
	if s.many == nil {
		s.many = map[*Expr]struct{}{}
	}
	s.many[e] = struct{}{}
	return true
}

// Writes reports whether statements, or those inside of them, write r.
func Writes(body []*Stmt, r *Ref) bool {
	return slices.ContainsFunc(body, func(s *Stmt) bool { return s.Ref == r || Writes(s.Body, r) })
}

// Loads reports whether e reads r.
func Loads(e *Expr, r *Ref) bool {
	var seen exprSet
	return seen.loads(e, r)
}

func (s *exprSet) loads(e *Expr, r *Ref) bool {
	if e.Op == OpLoad {
		return e.Ref == r
	}
	if len(e.Args) == 0 || !s.add(e) {
		return false
	}
	return slices.ContainsFunc(e.Args, func(a *Expr) bool { return s.loads(a, r) })
}

// A Rewriter copies values. What parts of values share they still share afterwards.
type Rewriter struct {
	put  func(from, c *Expr) *Expr
	made map[*Expr]*Expr
}

// Rewriting returns the rewriter that has put say, of each node and a copy of it whose
// arguments are rewritten, what takes its place.
func Rewriting(put func(from, c *Expr) *Expr) Rewriter { return Rewriter{put, map[*Expr]*Expr{}} }

// Expr is e rewritten; nil if e is.
func (r Rewriter) Expr(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	if c := r.made[e]; c != nil {
		return c
	}
	c := *e
	c.Args = each.Of(e.Args, r.Expr)
	r.made[e] = r.put(e, &c)
	return r.made[e]
}

// RewriteBody copies statements. Values that two of them share they do not share afterwards.
func RewriteBody(body []*Stmt, put func(from, c *Expr) *Expr) []*Stmt {
	var out []*Stmt
	for _, s := range body {
		c := *s
		c.Value, c.Body = Rewriting(put).Expr(s.Value), RewriteBody(s.Body, put)
		out = append(out, &c)
	}
	return out
}
