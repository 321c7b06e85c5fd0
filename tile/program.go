package tile

import (
	"fmt"
	"slices"

	"matladder/internal/each"
)

// StmtKind is what a statement does.
type StmtKind uint8

// The statements.
const (
	Fill       StmtKind = iota // every element of Ref becomes Value, a constant of rank 0
	Store                      // Ref = Value, in rows From … To-1 if these are there
	Accumulate                 // Ref = Ref + Value, rounded to Ref's dtype
	When                       // Body, where Cond holds
	Loop                       // Body, for Axis = 0 … Axis.Size-1
	Start                      // begin Copy
	Wait                       // until Copy has arrived here
	WaitSent                   // until Copy, to another device, has left
	Signal                     // add one to the counter of Signal
	Await                      // until Slot has counted to Count, which it takes away
)

var stmtKinds = [...]string{"fill", "store", "accumulate", "when", "loop", "start", "wait", "wait_sent", "signal", "await"}

func (k StmtKind) String() string { return stmtKinds[k] }

// Stmt is one statement of a body. Fields that its Kind does not name are zero.
type Stmt struct {
	Kind   StmtKind
	Ref    *Ref      // Fill, Store, Accumulate
	Value  *Expr     // Fill, Store, Accumulate: of Ref's shape; of its dtype but for Accumulate, which may widen
	From   IndexExpr // Store of some rows: the first; nil, as To, for all
	To     IndexExpr // Store of some rows: the one behind the last
	Cond   Cond      // When
	Axis   *Axis     // Loop
	Body   []*Stmt
	Copy   *Copy     // Start, Wait, WaitSent
	Signal *SignalTo // Signal
	Slot   Slot      // Await
	Count  int       // Await
	Pos    Pos
}

// IsPart reports whether s is a store of some rows.
func (s *Stmt) IsPart() bool { return s.From != nil }

// Program is a kernel as data: a grid, the refs its body sees, and the body.
// It is read-only once built.
type Program struct {
	Name string
	Grid []*Axis // the last axis is the fastest
	Refs []*Ref  // in the order of declaration
	Body []*Stmt

	Mesh       []*Axis // of devices that all run it; the last axis is the fastest
	Semaphores []*Semaphore
}

// Steps returns the number of programs in the grid; 1 for an empty grid.
func (p *Program) Steps() int64 { return Elements(sizes(p.Grid)) }

// Predicated returns a program that means the same without bounds of axes: its grid is
// run to the end, its body only where every axis is below its bound. It is p if no
// axis has one. The axes are those of p.
func (p *Program) Predicated() *Program {
	var below AllCond
	var pos Pos
	for _, a := range p.Grid {
		if a.Bound != nil {
			pos = a.pos
			below = append(below, Test(a, LT, a.Bound))
		}
	}
	if below == nil {
		return p
	}
	q := *p
	q.Body = []*Stmt{{Kind: When, Cond: below, Body: p.Body, Pos: pos}}
	return &q
}

// RefsOf returns the refs of one kind, in order.
func (p *Program) RefsOf(kind RefKind) []*Ref {
	return each.That(p.Refs, func(r *Ref) bool { return r.Kind == kind })
}

// Walk calls f on every statement, outer ones first.
func (p *Program) Walk(f func(*Stmt)) { walkStmts(p.Body, f) }

// WalkExprs calls f on every expression of every statement, in the order of Walk: operands
// first, each once for a statement.
func (p *Program) WalkExprs(f func(*Stmt, *Expr)) {
	p.Walk(func(s *Stmt) {
		if s.Value != nil {
			WalkExpr(s.Value, func(e *Expr) { f(s, e) })
		}
	})
}

// FindExpr is the first expression, in the order of WalkExprs, of which is says so; nil if
// there is none.
func (p *Program) FindExpr(is func(*Stmt, *Expr) bool) (found *Expr) {
	p.WalkExprs(func(s *Stmt, e *Expr) {
		if found == nil && is(s, e) {
			found = e
		}
	})
	return found
}

func walkStmts(body []*Stmt, f func(*Stmt)) {
	for _, s := range body {
		f(s)
		walkStmts(s.Body, f)
	}
}

// Bindings are the arrays that a sequence of programs works on, matched by
// name: what goes in, what comes out, and what only passes between programs.
type Bindings struct {
	In   []*Ref // tables and inputs that no earlier program makes, in order of first use
	Out  []*Ref // outputs that no later program reads
	Temp []*Ref // outputs that a later program reads
}

// Largest is the largest input, the first of equals; nil if there is none.
func (b Bindings) Largest() *Ref {
	var largest *Ref
	for _, r := range b.In {
		if r.Kind == In && (largest == nil || r.ArrayBytes() > largest.ArrayBytes()) {
			largest = r
		}
	}
	return largest
}

// Bind returns the arrays of programs that run in order. It is an error if two programs disagree
// about the dtype or shape of an array of one name, or write the same one.
func Bind(programs []*Program) (Bindings, error) {
	var b Bindings
	made := map[string]*Ref{}
	given := map[string]*Ref{}
	read := map[string]bool{}
	for _, p := range programs {
		for _, r := range p.Refs {
			if r.Kind != In && r.Kind != Table {
				continue
			}
			old := made[r.Name]
			if old != nil {
				read[r.Name] = true
			} else if old = given[r.Name]; old == nil {
				given[r.Name] = r
				b.In = append(b.In, r)
				continue
			}
			if old.Dtype != r.Dtype || !slices.Equal(old.Array, r.Array) {
				return Bindings{}, &Error{r.Pos, p.Name, fmt.Sprintf("%s is %s[%s] here and %s[%s] in an earlier program",
					r.Name, r.Dtype, shapeString(r.Array), old.Dtype, shapeString(old.Array))}
			}
		}
		for _, r := range p.RefsOf(Out) {
			if made[r.Name] != nil || given[r.Name] != nil {
				return Bindings{}, &Error{r.Pos, p.Name, fmt.Sprintf("%s is an array of an earlier program already", r.Name)}
			}
			made[r.Name] = r
		}
	}
	for _, p := range programs {
		for _, r := range p.RefsOf(Out) {
			if read[r.Name] {
				b.Temp = append(b.Temp, r)
			} else {
				b.Out = append(b.Out, r)
			}
		}
	}
	return b, nil
}
