package tile

import "slices"

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
	for _, a := range e.Args {
		if s.loads(a, r) {
			return true
		}
	}
	return false
}
