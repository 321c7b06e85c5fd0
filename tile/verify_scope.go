package tile

import (
	"cmp"
	"slices"
)

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
	case TestCond:
		if c.Op > GE {
			return "no such comparison"
		}
		return cmp.Or(p.unusable(c.X, loops), p.unusable(c.Y, loops))
	case AllCond:
		return p.unusableConds(c, loops)
	case AnyCond:
		return p.unusableConds(c, loops)
	case NotCond:
		return p.unusableCond(c.Cond, loops)
	}
	return "a condition is missing"
}

func (p *Program) unusableConds(cs []Cond, loops []*Axis) string {
	for _, c := range cs {
		if msg := p.unusableCond(c, loops); msg != "" {
			return msg
		}
	}
	return ""
}
