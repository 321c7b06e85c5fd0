package tile

import (
	"slices"
	"strings"

	"matladder/internal/each"
)

// blockIndices: index maps stay inside their arrays for every program.
func blockIndices(v *verifier) {
	for _, r := range v.program.Refs {
		if len(r.Index) == 0 {
			continue
		}
		blocks := r.Blocks()
		for d, x := range r.Index {
			if msg := v.leaves(x, blocks[d]-1, site{}); msg != "" {
				v.errorf(r.Pos, "%s: index map (%s): %s along dimension %d, where its blocks are 0 … %d",
					describe(r), indexString(r.Index), msg, d, blocks[d]-1)
			}
		}
	}
}

// sliceBounds: a slice that moves stays inside what it slices.
func sliceBounds(v *verifier) {
	for _, e := range v.values {
		if e.Op != OpSlice {
			continue
		}
		whole := e.Args[0].Shape[e.Dim]
		if msg := v.leaves(e.Index, whole-e.Shape[e.Dim], v.sites[e.site]); msg != "" {
			v.errorf(e.Pos, "slice: %s along dimension %d of [%s], too far for %d elements",
				msg, e.Dim, shapeString(e.Args[0].Shape), e.Shape[e.Dim])
		}
	}
}

// tableIndices: a look-up is inside its table, unless a table says where.
func tableIndices(v *verifier) {
	for _, r := range v.program.Refs {
		for _, x := range r.Index {
			v.lookups(x, r.Pos, site{})
		}
	}
	for _, s := range v.sites {
		switch {
		case s.Kind == When:
			v.lookupsIn(s.Cond, s)
		case s.IsPart():
			v.lookups(s.From, s.Pos, s)
			v.lookups(s.To, s.Pos, s)
		}
	}
	for _, e := range v.values {
		if e.Op == OpIndex || e.Op == OpSlice {
			v.lookups(e.Index, e.Pos, v.sites[e.site])
		}
	}
}

func (v *verifier) lookups(x IndexExpr, pos Pos, at site) {
	WalkIndex(x, func(y IndexExpr) {
		if l, ok := y.(Lookup); ok {
			n := l.Table.Array[0]
			if msg := v.leaves(l.At, n-1, at); msg != "" {
				v.errorf(pos, "%s: %s, the table has elements 0 … %d", l, msg, n-1)
			}
		}
	})
}

// lookupsIn follows c as it is evaluated: All stops at the first part that does
// not hold, Any at the first that does.
func (v *verifier) lookupsIn(c Cond, at site) {
	switch c := c.(type) {
	case TestCond:
		v.lookups(c.X, at.Pos, at)
		v.lookups(c.Y, at.Pos, at)
	case AllCond:
		for _, part := range c {
			v.lookupsIn(part, at)
			at.conds = append(slices.Clip(at.conds), part)
		}
	case AnyCond:
		for _, part := range c {
			v.lookupsIn(part, at)
			at.conds = append(slices.Clip(at.conds), Not(part))
		}
	case NotCond:
		v.lookupsIn(c.Cond, at)
	}
}

// leaves returns how x leaves 0 … hi at a statement, or "". Where the interval of x is too coarse
// to tell, it counts through the axes and the conditions around the statement.
func (v *verifier) leaves(x IndexExpr, hi int, at site) string {
	b := bounds(x, everyID)
	if !b.known || b.lo >= 0 && b.hi <= hi {
		return ""
	}
	conds := each.That(at.conds, func(c Cond) bool { return TableFree(Compared(c)...) })
	axes := slices.Concat(v.program.Mesh, v.program.Grid, at.loops)
	axes = axesIn(axes, append(Compared(conds...), x)...)
	if _, ok := combinations(axes, wholeAxis); !ok {
		return bare(x) + " cannot be shown to stay inside by counting a million programs"
	}
	msg := ""
	enumerate(axes, wholeAxis, func(c *Point) bool {
		n := Eval(x, c)
		if n >= 0 && n <= hi || !EvalCond(AllCond(conds), c) {
			return true
		}
		if msg = bare(x) + " is " + Const(n).String() + " in program " + c.String(); len(axes) == 0 {
			msg = "it is " + Const(n).String()
		}
		return false
	})
	return msg
}

// indexString prints an index map without its brackets.
func indexString(index []IndexExpr) string { return strings.Join(each.Of(index, bare), ", ") }
