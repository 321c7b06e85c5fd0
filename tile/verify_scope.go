package tile

import "slices"

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

// unusable returns why x cannot be evaluated inside loops, or "".
func (p *Program) unusable(x IndexExpr, loops []*Axis) string {
	switch x := x.(type) {
	case Const:
		return ""
	case *Axis:
		switch {
		case x == nil:
			return "an axis is nil"
		case !slices.Contains(p.Grid, x) && !slices.Contains(loops, x):
			if x.Loop {
				return "loop variable " + x.Name + " is used outside its loop"
			}
			return "axis " + x.Name + " is not of this grid"
		}
		return ""
	case Sum:
		if msg := p.unusable(x.X, loops); msg != "" {
			return msg
		}
		return p.unusable(x.Y, loops)
	case Product:
		return p.unusable(x.X, loops)
	case Quotient:
		if x.By < 1 {
			return "a divisor must be at least 1"
		}
		return p.unusable(x.X, loops)
	case Remainder:
		if x.By < 1 {
			return "a divisor must be at least 1"
		}
		return p.unusable(x.X, loops)
	case Lookup:
		switch {
		case x.Table == nil || !slices.Contains(p.Refs, x.Table):
			return "a table of another program is looked up"
		case x.Table.Kind != Table:
			return x.Table.Name + " is looked up but is " + x.Table.Kind.String() + ", not a table"
		}
		return p.unusable(x.At, loops)
	}
	return "an index expression is missing"
}

// unusableCond is unusable for a condition.
func (p *Program) unusableCond(c Cond, loops []*Axis) string {
	switch c := c.(type) {
	case TestCond:
		if c.Op > GE {
			return "no such comparison"
		}
		if msg := p.unusable(c.X, loops); msg != "" {
			return msg
		}
		return p.unusable(c.Y, loops)
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
