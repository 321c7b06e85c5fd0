package tile

import (
	"cmp"
	"fmt"
	"slices"

	"matladder/internal/each"
)

// valueSite is an expression inside the value of a statement.
type valueSite struct {
	*Expr
	site int // of v.sites
}

// expr checks e and everything inside it, and notes it in v.values.
func (v *verifier) expr(e *Expr, s *Stmt, loops []*Axis) bool {
	var seen exprSet
	return v.exprTree(e, s, loops, &seen)
}

func (v *verifier) exprTree(e *Expr, s *Stmt, loops []*Axis, seen *exprSet) bool {
	if e == nil {
		v.errorf(s.Pos, "%s: a value is missing", s.Kind)
		return false
	}
	if !seen.add(e) {
		return true
	}
	for _, a := range e.Args {
		if !v.exprTree(a, s, loops, seen) {
			return false
		}
	}
	if msg := v.program.malformed(e, loops); msg != "" {
		v.errorf(cmp.Or(e.Pos, s.Pos), "%s", msg)
		return false
	}
	v.values = append(v.values, valueSite{e, len(v.sites) - 1})
	return true
}

// arity is how many operands an operation has; concat any number from one on.
func (o Op) arity() int {
	switch {
	case o <= OpInBounds:
		return 0
	case o == OpSelect:
		return 3
	case o >= OpDot && o <= OpCompare:
		return 2
	}
	return 1
}

// malformed returns why e, whose operands are well formed, is not; or "".
// Expressions that the constructors made are refused for their constants, refs
// and index expressions alone; others were put together by hand.
func (p *Program) malformed(e *Expr, loops []*Axis) string {
	if int(e.Op) >= len(opNames) {
		return fmt.Sprintf("operation %d does not exist", e.Op)
	}
	if len(e.Args) != e.Op.arity() && !(e.Op == OpConcat && len(e.Args) > 0) {
		return fmt.Sprintf("%s: it cannot have %d operands", e.Op, len(e.Args))
	}
	if e.Dtype == InvalidDtype || int(e.Dtype) >= len(dtypes) {
		return fmt.Sprintf("%s: its value has no dtype: cast it to one", e.Op)
	}
	for _, n := range e.Shape {
		if n < 1 {
			return fmt.Sprintf("%s: shape [%s]: every size must be at least 1", e.Op, shapeString(e.Shape))
		}
	}
	switch {
	case len(e.Args) == 0:
		return p.malformedLeaf(e, loops)
	case e.Op.IsElementwise():
		return malformedElementwise(e)
	}
	x := e.Args[0]
	var again *Expr // e as its constructor makes it
	switch e.Op {
	case OpDot:
		shape, dtype, msg := dotResult(x, e.Args[1], e.TransA, e.TransB)
		if msg != "" {
			return msg
		}
		again = &Expr{Shape: shape, Dtype: dtype}
	case OpReduceMax, OpReduceSum:
		again = reduce(e.Op, x, e.Dim)
	case OpBroadcast:
		if again = Broadcast(x, e.Shape...); again == x {
			return ""
		}
	case OpSlice:
		if msg := p.unusable(e.Index, loops); msg != "" {
			return "slice: " + msg
		}
		if e.Dim < 0 || e.Dim >= len(e.Shape) {
			return fmt.Sprintf("slice: no dimension %d in [%s]", e.Dim, shapeString(e.Shape))
		}
		again = Slice(x, e.Dim, e.Index, e.Shape[e.Dim])
	case OpConcat:
		parts := each.Of(e.Args, func(a *Expr) Value { return a })
		again = Concat(e.Dim, parts...)
	}
	return differs(e, again)
}

// differs returns how e differs from what its constructor makes of its operands.
func differs(e, again *Expr) string {
	if again.err != nil {
		return again.err.(*Error).Msg
	}
	if e.Dtype != again.Dtype || !slices.Equal(e.Shape, again.Shape) {
		return fmt.Sprintf("%s: it says %s[%s], its operands make %s[%s]",
			e.Op, e.Dtype, shapeString(e.Shape), again.Dtype, shapeString(again.Shape))
	}
	return ""
}

func malformedElementwise(e *Expr) string {
	values := e.Args
	if e.Op == OpSelect {
		if e.Args[0].Dtype != Bool {
			return fmt.Sprintf("select: the condition is %s, not bool", e.Args[0].Dtype)
		}
		values = e.Args[1:]
	}
	x, dtype := values[0], values[0].Dtype
	for _, a := range e.Args {
		if !slices.Equal(a.Shape, e.Shape) {
			return fmt.Sprintf("%s: an operand is [%s], the value [%s]", e.Op, shapeString(a.Shape), shapeString(e.Shape))
		}
	}
	for _, a := range values {
		if a.Dtype != dtype {
			return fmt.Sprintf("%s: operands are %s and %s: cast one first", e.Op, dtype, a.Dtype)
		}
	}
	logical := e.Op == OpAnd || e.Op == OpOr || e.Op == OpNot
	floats := e.Op == OpDiv || e.Op >= OpExp && e.Op <= OpRoundEven
	switch {
	case e.Op == OpCast:
		return ""
	case e.Op == OpCompare:
		if e.Cmp > GE {
			return "compare: no such comparison"
		}
		dtype = Bool
	case logical && x.Dtype != Bool, !logical && e.Op != OpSelect && x.Dtype == Bool, floats && !x.Dtype.IsFloat():
		return fmt.Sprintf("%s: no such operation on %s", e.Op, x.Dtype)
	}
	if e.Dtype != dtype {
		return fmt.Sprintf("%s: it says %s, its operands make %s", e.Op, e.Dtype, dtype)
	}
	return ""
}

func (p *Program) malformedLeaf(e *Expr, loops []*Axis) string {
	if r := e.Ref; e.Op == OpLoad || e.Op == OpInBounds {
		switch {
		case r == nil || !slices.Contains(p.Refs, r):
			return fmt.Sprintf("%s: the ref is not of this program", e.Op)
		case r.Kind == Table:
			return fmt.Sprintf("%s: %s is a table: look it up with IndexValue(%s.At(…))", e.Op, r.Name, r.Name)
		case r.Main:
			return fmt.Sprintf("%s: %s stays in main memory: copy what is wanted of it to scratch", e.Op, r.Name)
		case r.Kind == Out && e.Op == OpLoad && r.Overlap():
			return overlapRead(r)
		case r.Buffers > 0 && e.Op == OpInBounds:
			return fmt.Sprintf("%s: all blocks of %s are whole, as it has buffers", e.Op, r.Name)
		}
	}
	want, dtype := []int{}, Int32
	switch e.Op {
	case OpLoad:
		want, dtype = e.Ref.Shape(), e.Ref.Dtype
	case OpConst:
		if msg := unfit(e.Value, e.Dtype); msg != "" {
			return msg
		}
		dtype = e.Dtype
	case OpIndex:
		if msg := p.unusable(e.Index, loops); msg != "" {
			return "index: " + msg
		}
	case OpIota:
		if e.Dim < 0 || e.Dim >= len(e.Shape) {
			return fmt.Sprintf("iota: no dimension %d in [%s]", e.Dim, shapeString(e.Shape))
		}
		want = e.Shape
	case OpInBounds:
		want, dtype = e.Ref.Shape(), Bool
		if e.Dim < 0 || e.Dim >= len(want) {
			return fmt.Sprintf("in_bounds: %s has no dimension %d", describe(e.Ref), e.Dim)
		}
		n := want[e.Dim]
		if want = e.Shape; Elements(e.Shape) != int64(n) || n > 1 && !slices.Contains(e.Shape, n) {
			return fmt.Sprintf("in_bounds: %s: dimension %d does not make [%s]", describe(e.Ref), e.Dim, shapeString(e.Shape))
		}
	}
	if e.Dtype != dtype || !slices.Equal(e.Shape, want) {
		return fmt.Sprintf("%s: it says %s[%s] and is %s[%s]", e.Op, e.Dtype, shapeString(e.Shape), dtype, shapeString(want))
	}
	return ""
}

// unfit returns why x is no value of d, or "". Floats round, but not to infinity.
func unfit(x float64, d Dtype) string {
	if d == InvalidDtype {
		return "a number has no dtype: cast it to one"
	}
	r := d.Round(x)
	switch {
	case !d.IsFloat() && r != x, d.IsFloat() && (r-r != 0) != (x-x != 0), x == x && r != r:
		lo, hi := d.Range()
		return fmt.Sprintf("the constant %v does not fit %s (%v … %v)", x, d, lo, hi)
	}
	return ""
}
