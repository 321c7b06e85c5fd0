package mlir

import (
	"maps"

	"matladder/tile"
)

// Values writes what statements compute: floats in f32 and integers in i32 between the places
// where the program rounds. V is a value of the text, a scalar or a vector that is broadcast
// where it is used, or a number where that is known while the text is written.
type Values[V any] struct {
	Known    func(v V) (x float64, known bool)
	Constant func(elem string, x float64) V
	Elem     func(v V) string // its type
	Stored   map[tile.Dtype]string
	Floats   map[tile.Op]string // elementwise operations on floats that are one of the text's

	Expr    func(e *tile.Expr) V // as narrow as it came from memory
	Index   func(x tile.IndexExpr) V
	Wide    func(v V, d tile.Dtype) V // as it is computed with
	Narrow  func(v V, d tile.Dtype) V // as memory has it
	Unary   func(op string, x V) V
	Binary  func(op string, x, y V) V
	Compare func(x V, op tile.Comparison, y V) V
	Select  func(cond, x, y V) V // of a cond that is not known
	Cast    func(op string, v V, elem string) V
	Even    func(x V) V                            // rounds to nearest even
	Clamped func(x V, lo, hi float64) V            // of floats
	Inside  func(x tile.IndexExpr, e *tile.Expr) V // elements of an InBounds from x on
	Any     func(inside V) V                       // whether there are any
	Below   func(dim int, shape []int, inside V) V

	Refuse func(op, reason string)
}

// integers are the elementwise operations on integers that are one of the text's.
var integers = map[tile.Op]string{
	tile.OpAdd: "arith.addi", tile.OpSub: "arith.subi", tile.OpMul: "arith.muli",
	tile.OpMax: "arith.maxsi", tile.OpMin: "arith.minsi", tile.OpAbs: "math.absi",
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

// Memo has the values of expressions that were written before.
type Memo[V any] map[*tile.Expr]V

// Of is the value of e, which write writes the first time.
func (m Memo[V]) Of(e *tile.Expr, write func(*tile.Expr) V) V {
	if v, ok := m[e]; ok {
		return v
	}
	v := write(e)
	m[e] = v
	return v
}

// Write writes an expression of one of the operations that all texts have alike.
func (w Values[V]) Write(e *tile.Expr) V {
	switch e.Op {
	case tile.OpConst:
		if e.Dtype == tile.InvalidDtype {
			return w.Constant("f32", e.Value)
		}
		return w.Constant(Working(e.Dtype), e.Dtype.Round(e.Value))
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
func (w Values[V]) Arg(e *tile.Expr, i int) V { return w.Wide(w.Expr(e.Args[i]), e.Args[i].Dtype) }

func (w Values[V]) integer(x int) V { return w.Constant("i32", float64(x)) }

func (w Values[V]) boolean(x bool) V {
	if x {
		return w.Constant("i1", 1)
	}
	return w.Constant("i1", 0)
}

func (w Values[V]) elementwise(e *tile.Expr) V {
	ops := w.Floats
	if e.Dtype.IsInteger() {
		ops = integers
	}
	op, ok := ops[e.Op]
	var v V
	switch {
	case e.Op == tile.OpNeg && e.Dtype.IsInteger():
		v = w.Binary("arith.subi", w.integer(0), w.Arg(e, 0))
	case !ok || e.Dtype == tile.Bool:
		w.Refuse(e.Op.String(), "it has no lowering on "+e.Dtype.String())
		return w.Constant(Working(e.Dtype), 0)
	case len(e.Args) == 1:
		v = w.Unary(op, w.Arg(e, 0))
	default:
		v = w.Binary(op, w.Arg(e, 0), w.Arg(e, 1))
	}
	if e.Op == tile.OpMax || e.Op == tile.OpMin {
		return v
	}
	return w.Wrapped(v, e.Dtype)
}

// selected is a Select; values that come narrow from memory stay so.
func (w Values[V]) selected(e *tile.Expr) V {
	cond, x, y := w.Expr(e.Args[0]), w.Expr(e.Args[1]), w.Expr(e.Args[2])
	m, one := w.Known(x)
	n, other := w.Known(y)
	narrow := func(v V, number float64, known bool) bool {
		return w.Elem(v) == w.Stored[e.Dtype] || known && number-number == 0
	}
	if narrow(x, m, one) && narrow(y, n, other) && !(one && other) {
		return w.Choose(cond, w.Narrow(x, e.Dtype), w.Narrow(y, e.Dtype))
	}
	return w.Choose(cond, w.Wide(x, e.Dtype), w.Wide(y, e.Dtype))
}

// logical is And or Or; an operand known to be decisive settles it.
func (w Values[V]) logical(e *tile.Expr) V {
	op, decisive := "arith.andi", 0.0
	if e.Op == tile.OpOr {
		op, decisive = "arith.ori", 1
	}
	x, y := w.Expr(e.Args[0]), w.Expr(e.Args[1])
	n, known := w.Known(x)
	if !known {
		x, y = y, x
		n, known = w.Known(x)
	}
	switch {
	case !known:
		return w.Binary(op, x, y)
	case n == decisive:
		return x
	}
	return y
}

// Not is the opposite of a bool.
func (w Values[V]) Not(x V) V {
	if n, known := w.Known(x); known {
		return w.boolean(n == 0)
	}
	return w.Binary("arith.xori", x, w.boolean(true))
}

// Choose is x where cond holds, else y; x and y are of one type.
func (w Values[V]) Choose(cond, x, y V) V {
	switch n, known := w.Known(cond); {
	case !known:
		return w.Select(cond, x, y)
	case n != 0:
		return x
	}
	return y
}

// FromBool is a bool as 0 or 1.
func (w Values[V]) FromBool(x V) V {
	if n, known := w.Known(x); known {
		return w.Constant("i32", n)
	}
	return w.Cast("arith.extui", x, "i32")
}

// Convert casts a value of dtype from to dtype to: floats round to nearest even, integers
// saturate, NaN becomes integer 0. An int32 reaches a float narrower than float32 by way of
// float32.
func (w Values[V]) Convert(x V, from, to tile.Dtype) V {
	if n, known := w.Known(x); known {
		return w.Constant(Working(to), to.Round(n))
	}
	switch {
	case from == tile.Bool:
		return w.Convert(w.FromBool(x), tile.Int32, to)
	case to == tile.Bool && from.IsFloat():
		return w.Compare(w.Wide(x, from), tile.GT, w.Constant("f32", 0.5)) // what rounds to 1 or more
	case to == tile.Bool:
		return w.Compare(w.Wide(x, from), tile.GT, w.integer(0))
	case to.IsFloat() && from.IsFloat():
		return w.Narrow(w.Wide(x, from), to)
	case to == tile.BFloat16 && (from == tile.Int8 || from == tile.Int4) && w.Elem(x) == w.Stored[from]:
		return w.Cast("arith.sitofp", x, "bf16") // exact, and one step on the way to a Dot
	case to.IsFloat():
		return w.Narrow(w.Cast("arith.sitofp", w.Wide(x, from), "f32"), to)
	case from.IsFloat():
		return w.toInteger(w.Wide(x, from), to)
	}
	lo, hi := to.Range()
	x = w.Wide(x, from)
	if least, most := from.Range(); lo <= least && most <= hi {
		return x
	}
	return w.Binary("arith.minsi", w.Binary("arith.maxsi", x, w.integer(int(lo))), w.integer(int(hi)))
}

// toInteger rounds an f32 to nearest even and saturates. The largest int32 is no f32, so
// that the end of the range needs a comparison.
func (w Values[V]) toInteger(x V, to tile.Dtype) V {
	x = w.Choose(w.Compare(x, tile.EQ, x), x, w.Constant("f32", 0))
	x = w.Even(x)
	lo, hi := to.Range()
	const below = 1<<31 - 128 // the largest f32 that is an int32
	n := w.Cast("arith.fptosi", w.Clamped(x, lo, min(hi, below)), "i32")
	if to != tile.Int32 {
		return n
	}
	return w.Choose(w.Compare(x, tile.GE, w.Constant("f32", 1<<31)), w.integer(int(hi)), n)
}

// Wrapped keeps the bits of an i32 that integer type d has; floats pass.
func (w Values[V]) Wrapped(x V, d tile.Dtype) V {
	switch d {
	case tile.Uint8:
		return w.Binary("arith.andi", x, w.integer(0xFF))
	case tile.Int8, tile.Int4:
		by := w.integer(32 - d.Bits())
		return w.Binary("arith.shrsi", w.Binary("arith.shli", x, by), by)
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
func (w Values[V]) InBounds(e *tile.Expr, offset tile.IndexExpr, shape []int) V {
	if !e.Ref.Overhangs(e.Dim) {
		return w.boolean(true)
	}
	inside, dim := w.Inside(offset, e), Counted(shape)
	n, known := w.Known(inside)
	switch {
	case dim < 0 && known:
		return w.boolean(n > 0)
	case dim < 0:
		return w.Any(inside)
	case known && int(n) >= shape[dim]:
		return w.boolean(true)
	}
	return w.Below(dim, shape, inside)
}
