package mlir

import (
	"maps"
	"math"

	"matladder/internal/each"
	"matladder/tile"
)

// Target is what a language for kernels has of its own, beside how it spells operations.
type Target interface {
	Dialect
	Scope
	// Own is an expression that the language writes its own way; false for one that all
	// languages write alike.
	Own(e *tile.Expr) (v Value, own bool)
	// Physical is the shape in which a block of shape is computed.
	Physical(shape []int) []int
	// Spread is v, of fewer elements or spread otherwise, with all the elements of a type.
	Spread(v Value, to Type) Value
	// Round is v, of f32, in a narrower type.
	Round(v Value, to Type) Value
	// RoundEven is an f32 rounded to the nearest integer, and to an even one of two.
	RoundEven(v Value) Value
	// Clamp is an f32 but lo where it is less and hi where it is more.
	Clamp(v Value, lo, hi float64) Value
	// Below tells the elements of dims whose coordinate along dim is less than limit.
	Below(dim int, dims []int, limit Value) Value
}

// Exprs writes what statements compute: floats in f32 and integers in i32 between the places
// where the program rounds. A value may be a scalar or of fewer elements than its expression:
// it is spread where it is used.
type Exprs struct {
	Writer
	Target Target
	Stored map[tile.Dtype]string
	Floats map[tile.Op]string // the elementwise operations on floats that are one of the text's

	// FalseOfNaN says that no comparison is true of a NaN, so that what is not equal is the
	// opposite of what is.
	FalseOfNaN bool
	// ScalarBool says that a scalar bool becomes a number where it is: other conversions are
	// of blocks.
	ScalarBool bool

	memo map[*tile.Expr]Value // what was written before, in a statement
}

// FloatOps are the elementwise operations on floats that are one of every text's, and more.
func FloatOps(more map[tile.Op]string) map[tile.Op]string {
	ops := map[tile.Op]string{
		tile.OpAdd: "arith.addf", tile.OpSub: "arith.subf", tile.OpMul: "arith.mulf",
		tile.OpMax: "arith.maximumf", tile.OpMin: "arith.minimumf", tile.OpNeg: "arith.negf", tile.OpAbs: "math.absf",
		tile.OpExp: "math.exp",
	}
	maps.Copy(ops, more)
	return ops
}

// integers are the elementwise operations on integers that are one of the text's.
var integers = map[tile.Op]string{
	tile.OpAdd: "arith.addi", tile.OpSub: "arith.subi", tile.OpMul: "arith.muli",
	tile.OpMax: "arith.maxsi", tile.OpMin: "arith.minsi", tile.OpAbs: "math.absi",
}

// Forget drops the values written so far: memory may have changed.
func (w *Exprs) Forget() { w.memo = map[*tile.Expr]Value{} }

// Expr is the value of e: as narrow as it came from memory, or in its working type.
func (w *Exprs) Expr(e *tile.Expr) Value {
	if v, ok := w.memo[e]; ok {
		return v
	}
	v, own := w.Target.Own(e)
	if !own {
		v = w.common(e)
	}
	w.memo[e] = v
	return v
}

func (w *Exprs) common(e *tile.Expr) Value {
	switch e.Op {
	case tile.OpConst:
		if e.Dtype == tile.InvalidDtype {
			return Number("f32", e.Value)
		}
		return Number(Working(e.Dtype), e.Dtype.Round(e.Value))
	case tile.OpIndex:
		return w.Index(e.Index)
	case tile.OpInBounds:
		return w.InBounds(e, tile.Const(0), e.Shape)
	case tile.OpAnd, tile.OpOr:
		return w.logical(e)
	case tile.OpNot:
		return w.Not(w.Expr(e.Args[0]))
	case tile.OpCompare:
		return w.Compare(w.Arg(e, 0), e.Cmp, w.Arg(e, 1))
	case tile.OpSelect:
		return w.selected(e)
	case tile.OpBroadcast:
		return w.Expr(e.Args[0]) // repeated where it is used
	case tile.OpLogistic:
		return w.logistic(w.Arg(e, 0))
	case tile.OpNormalCDF:
		return w.normalCDF(w.Arg(e, 0))
	case tile.OpCast:
		return w.Convert(w.Expr(e.Args[0]), e.Args[0].Dtype, e.Dtype)
	}
	return w.elementwise(e)
}

// Arg is operand i of e in its working type.
func (w *Exprs) Arg(e *tile.Expr, i int) Value { return w.Wide(w.Expr(e.Args[i]), e.Args[i].Dtype) }

func (w *Exprs) elementwise(e *tile.Expr) Value {
	ops := w.Floats
	if e.Dtype.IsInteger() {
		ops = integers
	}
	op, ok := ops[e.Op]
	var v Value
	switch {
	case e.Op == tile.OpNeg && e.Dtype.IsInteger():
		v = w.Apply("arith.subi", w.Int(0), w.Arg(e, 0))
	case !ok || e.Dtype == tile.Bool:
		w.Refuse(e.Op.String(), "", "it has no lowering on "+e.Dtype.String())
		return Number(Working(e.Dtype), 0)
	default:
		v = w.Apply(op, each.Of(e.Args, func(x *tile.Expr) Value { return w.Wide(w.Expr(x), x.Dtype) })...)
	}
	if e.Op == tile.OpMax || e.Op == tile.OpMin {
		return v
	}
	return w.Wrapped(v, e.Dtype)
}

// selected is a Select; values that come narrow from memory stay so.
func (w *Exprs) selected(e *tile.Expr) Value {
	cond, x, y := w.Expr(e.Args[0]), w.Expr(e.Args[1]), w.Expr(e.Args[2])
	m, one := x.Known()
	n, other := y.Known()
	narrow := func(v Value, number float64, known bool) bool {
		return v.Elem == w.Stored[e.Dtype] || known && number-number == 0
	}
	if narrow(x, m, one) && narrow(y, n, other) && !(one && other) {
		return w.Choose(cond, w.Narrow(x, e.Dtype), w.Narrow(y, e.Dtype))
	}
	return w.Choose(cond, w.Wide(x, e.Dtype), w.Wide(y, e.Dtype))
}

// logical is And or Or; an operand known to be decisive settles it.
func (w *Exprs) logical(e *tile.Expr) Value {
	op, decisive := "arith.andi", 0.0
	if e.Op == tile.OpOr {
		op, decisive = "arith.ori", 1
	}
	x, y := w.Expr(e.Args[0]), w.Expr(e.Args[1])
	if _, known := x.Known(); !known {
		x, y = y, x
	}
	n, known := x.Known()
	switch {
	case !known:
		return w.Apply(op, x, y)
	case n == decisive:
		return x
	}
	return y
}

// Not is the opposite of a bool.
func (w *Exprs) Not(x Value) Value {
	if n, known := x.Known(); known {
		return Boolean(n == 0)
	}
	return w.Apply("arith.xori", x, Boolean(true))
}

// Choose is x where cond holds, else y; x and y are of one type.
func (w *Exprs) Choose(cond, x, y Value) Value {
	switch n, known := cond.Known(); {
	case known && n != 0:
		return x
	case known:
		return y
	case cond.Dims == nil:
		vs := w.Matched(x, y)
		return w.Op(vs[0].Type, "arith.select", "", cond, vs[0], vs[1])
	}
	vs := w.Matched(cond, x, y)
	return w.Op(vs[1].Type, "arith.select", "", vs...)
}

// Compare is x op y.
func (w *Exprs) Compare(x Value, op tile.Comparison, y Value) Value {
	vs := w.operands(x, y)
	to := vs[0].Of("i1")
	switch {
	case !vs[0].IsFloat():
		return w.Op(to, "arith.cmpi", Predicates[op], vs...)
	case op == tile.NE && w.FalseOfNaN:
		return w.Not(w.Op(to, "arith.cmpf", floatPredicates[tile.EQ], vs...))
	}
	return w.Op(to, "arith.cmpf", floatPredicates[op], vs...)
}

// Apply writes an operation on values that it gives one type, which its result has too.
func (w *Exprs) Apply(op string, xs ...Value) Value {
	vs := w.operands(xs...)
	return w.Op(vs[0].Type, op, "", vs...)
}

// Add is x + y.
func (w *Exprs) Add(x, y Value) Value {
	if x.IsFloat() {
		return w.Apply("arith.addf", x, y)
	}
	return w.Apply("arith.addi", x, y)
}

// operands gives operands one type: of floats one of blocks, since not every function has a scalar.
func (w *Exprs) operands(xs ...Value) []Value {
	vs := w.Matched(xs...)
	if vs[0].Dims == nil && vs[0].IsFloat() {
		for i, v := range vs {
			vs[i] = w.Vector(w.Written(v), Type{Elem: v.Elem, Dims: []int{1, 1}})
		}
	}
	return vs
}

// Matched gives values one shape: that of the widest among them, or none if all are scalars.
func (w *Exprs) Matched(vs ...Value) []Value {
	var to Type
	for _, v := range vs {
		dims := v.Dims
		if _, known := v.Known(); known || dims == nil {
			continue
		}
		if v.Lanes > 0 {
			to.Lanes, dims = v.Lanes, []int{dims[0], 1}
		}
		to.Dims = Leading(to.Dims, len(dims))
		for d, n := range Leading(dims, len(to.Dims)) {
			to.Dims[d] = max(to.Dims[d], n)
		}
	}
	if to.Lanes > 0 && len(to.Dims) == 2 && to.Dims[1] == 1 {
		to.Dims[1] = to.Lanes
	} else {
		to.Lanes = 0
	}
	out := make([]Value, len(vs))
	for i, v := range vs {
		if to.Dims != nil {
			out[i] = w.Vector(v, to.Of(v.Elem))
		} else {
			out[i] = w.Written(v)
		}
	}
	return out
}

// Vector is v with all the elements of type to: constants are written, scalars and smaller
// blocks repeated.
func (w *Exprs) Vector(v Value, to Type) Value {
	if x, known := v.Known(); known {
		return w.Constant(to, x)
	}
	if to = to.Of(v.Elem); v.Equal(to) && v.Lanes == to.Lanes {
		return v
	}
	return w.Target.Spread(v, to)
}

// Wide is v, a value of d, as it is computed with.
func (w *Exprs) Wide(v Value, d tile.Dtype) Value {
	to := v.Of(Working(d))
	if _, known := v.Known(); known || v.Elem == to.Elem {
		v.Type = to
		return v
	}
	op := "arith.extsi"
	switch {
	case IsCode(d, v.Elem):
		return w.decoded(v, d)
	case d.IsFloat():
		op = "arith.extf"
	case d == tile.Uint8:
		op = "arith.extui"
	}
	return w.Once(to, op, "", v)
}

// Narrow is v, a value of d, as memory has it; floats round to nearest even.
func (w *Exprs) Narrow(v Value, d tile.Dtype) Value {
	to := v.Of(w.Stored[d])
	x, known := v.Known()
	switch {
	case v.Elem == to.Elem:
		return v
	case known && IsCode(d, to.Elem):
		return Number(to.Elem, code(d, x))
	case IsCode(d, to.Elem):
		return w.encoded(v, d, to.Elem)
	case known && spells(to.Elem, x):
		v.Type = to
		return v
	case d.IsFloat():
		return w.Target.Round(v, to)
	}
	return w.Once(to, "arith.trunci", "", v)
}

// cast is v with other elements, of more than one.
func (w *Exprs) cast(op string, v Value, elem string) Value {
	if v.Dims == nil && !(w.ScalarBool && op == "arith.extui") {
		v = w.Vector(v, Type{Elem: v.Elem, Dims: []int{1, 1}})
	}
	return w.Op(v.Of(elem), op, "", v)
}

// FromBool is a bool as 0 or 1.
func (w *Exprs) FromBool(x Value) Value {
	if n, known := x.Known(); known {
		return Number("i32", n)
	}
	return w.cast("arith.extui", x, "i32")
}

// ToBool is whether an i32 is not 0.
func (w *Exprs) ToBool(x Value) Value { return w.Compare(x, tile.NE, w.Int(0)) }

// Convert casts a value of dtype from to dtype to: floats round to nearest even, integers saturate,
// NaN becomes integer 0. An int32 reaches a float narrower than float32 by way of float32.
func (w *Exprs) Convert(x Value, from, to tile.Dtype) Value {
	if n, known := x.Known(); known {
		return Number(Working(to), to.Round(n))
	}
	switch {
	case from == tile.Bool:
		return w.Convert(w.FromBool(x), tile.Int32, to)
	case to == tile.Bool && from.IsFloat():
		return w.Compare(w.Wide(x, from), tile.GT, Number("f32", 0.5)) // what rounds to 1 or more
	case to == tile.Bool:
		return w.Compare(w.Wide(x, from), tile.GT, w.Int(0))
	case to.IsFloat() && from.IsFloat():
		return w.Narrow(w.Wide(x, from), to)
	case to == tile.BFloat16 && (from == tile.Int8 || from == tile.Int4) && x.Elem == w.Stored[from]:
		return w.cast("arith.sitofp", x, "bf16") // exact, and one step on the way to a Dot
	case to.IsFloat():
		return w.Narrow(w.cast("arith.sitofp", w.Wide(x, from), "f32"), to)
	case from.IsFloat():
		return w.toInteger(w.Wide(x, from), to)
	}
	lo, hi := to.Range()
	x = w.Wide(x, from)
	if least, most := from.Range(); lo <= least && most <= hi {
		return x
	}
	return w.Apply("arith.minsi", w.Apply("arith.maxsi", x, w.Int(int(lo))), w.Int(int(hi)))
}

// toInteger rounds an f32 to nearest even and saturates. The largest int32 is no f32, so
// that the end of the range needs a comparison.
func (w *Exprs) toInteger(x Value, to tile.Dtype) Value {
	x = w.Choose(w.Compare(x, tile.EQ, x), x, Number("f32", 0))
	x = w.Target.RoundEven(x)
	lo, hi := to.Range()
	const below = 1<<31 - 128 // the largest f32 that is an int32
	n := w.cast("arith.fptosi", w.Target.Clamp(x, lo, min(hi, below)), "i32")
	if to != tile.Int32 {
		return n
	}
	return w.Choose(w.Compare(x, tile.GE, Number("f32", 1<<31)), w.Int(int(hi)), n)
}

// Wrapped keeps the bits of an i32 that integer type d has; floats pass.
func (w *Exprs) Wrapped(x Value, d tile.Dtype) Value {
	switch d {
	case tile.Uint8:
		return w.Apply("arith.andi", x, w.Int(0xFF))
	case tile.Int8, tile.Int4:
		by := w.Int(32 - d.Bits())
		return w.Apply("arith.shrsi", w.Apply("arith.shli", x, by), by)
	}
	return x
}

// Counted is the dimension along which an InBounds of that shape counts; -1 if it is of one
// element.
func Counted(shape []int) int {
	for d, n := range shape {
		if n > 1 {
			return d
		}
	}
	return -1
}

// InBounds is an InBounds, or what of it lies from offset on, of some shape.
func (w *Exprs) InBounds(e *tile.Expr, offset tile.IndexExpr, shape []int) Value {
	if !e.Ref.Partial(e.Dim) {
		return Boolean(true)
	}
	inside, dim := w.Inside(e.Ref, e.Dim, offset), Counted(shape)
	if dim < 0 {
		return w.Test(inside, tile.GT, w.Int(0))
	}
	if n, known := inside.Int(); known && n >= shape[dim] {
		return Boolean(true)
	}
	dims := w.Target.Physical(shape)
	return w.Target.Below(dim+len(dims)-len(shape), dims, inside)
}

// Polynomial is a polynomial in x, the coefficient of the highest power first.
func (w *Exprs) Polynomial(x Value, coefficients ...float64) Value {
	sum := Number("f32", coefficients[0])
	for _, c := range coefficients[1:] {
		sum = w.Apply("arith.addf", w.Apply("arith.mulf", sum, x), Number("f32", c))
	}
	return sum
}

// logistic is 1 / (1 + e^-x).
func (w *Exprs) logistic(x Value) Value {
	one := Number("f32", 1)
	return w.Apply(w.Floats[tile.OpDiv], one, w.Apply("arith.addf", one, w.Apply("math.exp", w.Apply("arith.negf", x))))
}

// normalCDF is Φ(x). With t the size of x, Φ(-t)·e^(t²/2) is a polynomial in q = 1/(1 + 0.35t)
// times q (Lawson's fit of the relative error, 3.2e-8), so that Φ is right relative to itself
// also where it is small, but for the power: it is off by what t² is rounded by.
func (w *Exprs) normalCDF(x Value) Value {
	if n, known := x.Known(); known {
		return Number("f32", math.Erfc(-n/math.Sqrt2)/2)
	}
	one, mul := Number("f32", 1), func(x, y Value) Value { return w.Apply("arith.mulf", x, y) }
	t := w.Apply("math.absf", x)
	q := w.Apply(w.Floats[tile.OpDiv], one, w.Apply("arith.addf", mul(t, Number("f32", 0.35)), one))
	p := w.Polynomial(q, -0.0291638, 0.144060209, -0.255900681, 0.159391597, -0.023262974, 0.105574459, 0.119815581, 0.139864326, 0.139621258)
	power := w.Apply("math.exp", mul(mul(t, t), Number("f32", -0.5)))
	tail := mul(mul(p, q), power)
	return w.Choose(w.Compare(x, tile.LT, Number("f32", 0)), tail, w.Apply("arith.subf", one, tail))
}
