package tile

import (
	"cmp"
	"slices"
)

// statements: each can be carried out. Makes v.sites.
func statements(v *verifier) { v.statements(v.program.Body, nil, nil) }

func (v *verifier) statements(body []*Stmt, conds []Cond, loops []*Axis) {
	for _, s := range body {
		if s == nil {
			v.errorf(Pos{}, "a statement is nil")
			continue
		}
		v.sites = append(v.sites, site{s, conds, loops})
		if s.Kind > Await || !s.pure() {
			v.errorf(s.Pos, "statement: no such kind, or fields that its kind does not have")
			continue
		}
		switch s.Kind {
		case Fill, Store, Accumulate:
			v.write(s, loops)
		case Start, Wait, WaitSent:
			v.copy(s, loops)
		case Signal:
			v.signal(s, loops)
		case Await:
			v.await(s, loops)
		case When:
			if msg := v.program.unusableCond(s.Cond, loops); msg != "" {
				v.errorf(s.Pos, "when: %s", msg)
				continue
			}
			v.statements(s.Body, append(slices.Clip(conds), s.Cond), loops)
		case Loop:
			if v.loop(s, loops) {
				v.statements(s.Body, conds, append(slices.Clip(loops), s.Axis))
			}
		}
	}
}

// pure reports whether the fields that a statement's kind does not name are zero.
func (s *Stmt) pure() bool {
	writes := s.Kind < When
	copies := s.Kind == Start || s.Kind == Wait || s.Kind == WaitSent
	return (s.Copy != nil) == copies && (s.Signal != nil) == (s.Kind == Signal) &&
		(s.Kind == Await) == (s.Slot != Slot{}) && (s.Kind == Await) == (s.Count != 0) &&
		(writes || s.Ref == nil && s.Value == nil) && (s.Kind == When || s.Cond == nil) &&
		(s.Kind == Store && (s.From == nil) == (s.To == nil) || s.From == nil && s.To == nil) &&
		(s.Kind == Loop || s.Axis == nil) && (s.Kind == When || s.Kind == Loop || len(s.Body) == 0)
}

// loop: a loop has a size, and its variable a name that nothing around it has.
func (v *verifier) loop(s *Stmt, loops []*Axis) bool {
	if s.Axis == nil {
		v.errorf(s.Pos, "loop: it has no variable")
		return false
	}
	before := len(v.errs)
	if s.Axis.Size < 1 {
		v.errorf(s.Pos, "loop %s: size %d: a loop runs at least once", s.Axis.Name, s.Axis.Size)
	}
	for _, outer := range [][]*Axis{v.program.Grid, loops} {
		for _, a := range outer {
			if a.Name == s.Axis.Name {
				v.errorf(s.Pos, "loop %s: there is an axis of this name around it already", a.Name)
			}
		}
	}
	return len(v.errs) == before
}

// write: a value goes to a ref that may be written, in its dtype and shape.
func (v *verifier) write(s *Stmt, loops []*Axis) {
	r, e := s.Ref, s.Value
	switch {
	case r == nil || !slices.Contains(v.program.Refs, r):
		v.errorf(s.Pos, "%s: the ref is not of this program", s.Kind)
		return
	case r.Kind != Out && r.Kind != Scratch:
		v.errorf(s.Pos, "%s: %s: only out and scratch refs can be written", s.Kind, describe(r))
		return
	case r.Main:
		v.errorf(s.Pos, "%s: %s stays in main memory: write it to scratch and copy that", s.Kind, r.Name)
		return
	}
	if !v.expr(e, s, loops) {
		return
	}
	if s.IsPart() {
		if len(r.Shape()) == 0 {
			v.errorf(s.Pos, "store: %s has no rows", r.Name)
		} else if msg := cmp.Or(v.program.unusable(s.From, loops), v.program.unusable(s.To, loops)); msg != "" {
			v.errorf(s.Pos, "store: rows of %s: %s", r.Name, msg)
		}
	}
	switch s.Kind {
	case Fill:
		if e.Op != OpConst || e.Dtype != r.Dtype {
			v.errorf(s.Pos, "fill: %s wants a constant of %s", r.Name, r.Dtype)
		}
		return
	case Accumulate:
		if r.Kind == Out && r.Overlap() {
			v.errorf(s.Pos, "accumulate: %s", overlapRead(r))
		}
	}
	if !s.Kind.takes(e.Dtype, r.Dtype) {
		v.errorf(s.Pos, "%s: %s is %s, the value %s: cast it", s.Kind, r.Name, r.Dtype, e.Dtype)
	}
	if !slices.Equal(e.Shape, r.Shape()) {
		v.errorf(s.Pos, "%s: %s: the value is [%s]", s.Kind, describe(r), shapeString(e.Shape))
	}
}

// indexMaps: index maps use axes and tables of this program, and no loop
// variable, since a block is chosen before the body runs.
func indexMaps(v *verifier) {
	for _, r := range v.program.Refs {
		for d, x := range r.Index {
			if msg := v.program.unusable(x, nil); msg != "" {
				v.errorf(r.Pos, "%s: index map, dimension %d: %s", describe(r), d, msg)
			}
		}
	}
}

// axisBounds: how many programs run along an axis is one element of a table.
func axisBounds(v *verifier) {
	for _, a := range v.program.Grid {
		if a.Bound == nil {
			continue
		}
		if l, ok := a.Bound.(Lookup); !ok {
			v.errorf(a.pos, "axis %s: its bound is not an element of a table", a.Name)
		} else if msg := v.program.unusable(l, nil); msg != "" {
			v.errorf(a.pos, "axis %s: bound: %s", a.Name, msg)
		} else if i, ok := l.At.(Const); !ok || i < 0 || int(i) >= l.Table.Array[0] {
			v.errorf(a.pos, "axis %s: bound %s: want one of elements 0 … %d of the table", a.Name, l, l.Table.Array[0]-1)
		}
	}
}

// unusable returns why x cannot be evaluated inside loops, or "".
func (p *Program) unusable(x IndexExpr, loops []*Axis) (why string) {
	WalkIndex(x, func(x IndexExpr) {
		if why == "" {
			why = p.unusableItself(x, loops)
		}
	})
	return why
}

// unusableItself is unusable, whatever the operands of x.
func (p *Program) unusableItself(x IndexExpr, loops []*Axis) string {
	switch x := x.(type) {
	case nil:
		return "an index expression is missing"
	case *Axis:
		switch {
		case x == nil:
			return "an axis is nil"
		case !slices.Contains(p.Grid, x) && !slices.Contains(loops, x) && !slices.Contains(p.Mesh, x):
			if x.Loop {
				return "loop variable " + x.Name + " is used outside its loop"
			}
			return "axis " + x.Name + " is not of this grid"
		}
	case Scaled:
		if x.Op != Product && x.By < 1 {
			return "a divisor must be at least 1"
		}
	case Lookup:
		switch {
		case x.Table == nil || !slices.Contains(p.Refs, x.Table):
			return "a table of another program is looked up"
		case x.Table.Kind != Table:
			return x.Table.Name + " is looked up but is " + x.Table.Kind.String() + ", not a table"
		}
	}
	return ""
}

// unusableCond is unusable for a condition.
func (p *Program) unusableCond(c Cond, loops []*Axis) string {
	switch c := c.(type) {
	case nil:
		return "a condition is missing"
	case TestCond:
		if c.Op > GE {
			return "no such comparison"
		}
		return cmp.Or(p.unusable(c.X, loops), p.unusable(c.Y, loops))
	}
	for _, part := range partsOf(c) {
		if msg := p.unusableCond(part, loops); msg != "" {
			return msg
		}
	}
	return ""
}
