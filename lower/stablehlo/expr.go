package stablehlo

import (
	"fmt"
	"math"
	"strings"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/problem"
	"matladder/tile"
)

// elementwise are the operations that are one of StableHLO's.
var elementwise = map[tile.Op]string{
	tile.OpAdd: "add", tile.OpSub: "subtract", tile.OpMul: "multiply", tile.OpDiv: "divide",
	tile.OpMax: "maximum", tile.OpMin: "minimum", tile.OpAnd: "and", tile.OpOr: "or",
	tile.OpNeg: "negate", tile.OpAbs: "abs", tile.OpNot: "not",
	tile.OpExp: "exponential", tile.OpLog: "log", tile.OpTanh: "tanh", tile.OpLogistic: "logistic",
	tile.OpRsqrt: "rsqrt", tile.OpRoundEven: "round_nearest_even",
}

// expr is the working value of e. Floats are not rounded between the places
// where the program rounds: casts, constants and memory.
func (g *grid) expr(e *tile.Expr) value {
	if v, ok := g.memo[e]; ok {
		return v
	}
	args := each.Of(e.Args, g.expr)
	v := g.apply(e, args)
	g.memo[e] = v
	return v
}

func (g *grid) apply(e *tile.Expr, args []value) value {
	typ := working(e.Dtype, e.Shape...)
	switch e.Op {
	case tile.OpLoad:
		return g.block(e.Ref)
	case tile.OpConst:
		x := e.Value
		if e.Dtype != tile.InvalidDtype {
			x = e.Dtype.Round(x)
		}
		return g.Constant(typ, x)
	case tile.OpIndex:
		return g.Index(e.Index)
	case tile.OpIota:
		return g.iota(e.Dim, e.Shape)
	case tile.OpInBounds:
		return g.inBounds(e)
	case tile.OpDot:
		return g.masked(e, args[0], args[1])
	case tile.OpCompare:
		return g.compare(mlir.Predicates[e.Cmp], args[0], args[1])
	case tile.OpSelect:
		return g.choose(args[0], args[1], args[2])
	case tile.OpExp2: // which is no operation of StableHLO
		return g.Apply("exponential", g.Apply("multiply", args[0], g.Constant(typ, math.Ln2)))
	case tile.OpNormalCDF:
		return g.normalCDF(args[0])
	case tile.OpReduceMax, tile.OpReduceSum:
		return g.reduce(e, args[0])
	case tile.OpBroadcast:
		return g.broadcast(args[0], e.Shape)
	case tile.OpCast:
		return g.cast(args[0], e.Args[0].Dtype, e.Dtype)
	case tile.OpSlice:
		at := each.Of(e.Shape, func(int) value { return g.Int(0) })
		at[e.Dim] = g.Index(e.Index)
		return g.dynamicSlice(args[0], at, e.Shape)
	case tile.OpConcat:
		return g.join(e.Dim, args...)
	}
	op, ok := elementwise[e.Op]
	if !ok {
		g.Refuse(e.Op.String(), "", "it has no lowering")
		return g.Constant(typ, 0)
	}
	v := g.Apply(op, args...)
	if e.Dtype.IsInteger() {
		v = g.wrapped(v, e.Dtype)
	}
	return v
}

// inBounds compares coordinates along the one dimension of e that counts them
// with what of the array is left.
func (g *grid) inBounds(e *tile.Expr) value {
	r, dim := e.Ref, 0
	for d, n := range e.Shape {
		if n > 1 {
			dim = d
		}
	}
	if r.Kind != tile.In && r.Kind != tile.Out {
		return g.Constant(working(tile.Bool, e.Shape...), 1)
	}
	at := g.iota(dim, e.Shape)
	return g.compare("LT", at, g.broadcast(g.inside(r, e.Dim, tile.Const(0)), e.Shape))
}

// inside is how many elements of r's array lie between element offset of its
// block, along dimension dim, and the end; less than 1 if there is none.
func (g *grid) inside(r *tile.Ref, dim int, offset tile.IndexExpr) value {
	d := r.ArrayDim(dim)
	left := g.Apply("subtract", g.Int(r.Array[d]), g.start(r)[d])
	if offset == tile.IndexExpr(tile.Const(0)) {
		return left
	}
	return g.Apply("subtract", left, g.Index(offset))
}

// reduce takes the largest or the sum along a dimension, kept as 1.
func (g *grid) reduce(e *tile.Expr, x value) value {
	op, first := "add", 0.0
	if e.Op == tile.OpReduceMax {
		op, first = "maximum", math.Inf(-1)
		if e.Dtype.IsInteger() {
			first = math.MinInt32
		}
	}
	v := g.text.reduce(op, x, first, []int{e.Dim}, e.Shape)
	if e.Dtype.IsInteger() {
		v = g.wrapped(v, e.Dtype)
	}
	return v
}

// Element is one of a table.
func (g *grid) Element(table *tile.Ref, at value) value {
	return g.Reshape(g.dynamicSlice(g.block(table), []value{at}, []int{1}), nil)
}

// masked is a Dot with zero, in both operands, for the contraction coordinates
// that are padding of either.
func (g *grid) masked(e *tile.Expr, a, b value) value {
	ka, kb := e.Contracted()
	for _, edge := range g.partial.Contraction(e) {
		a, b = g.zeroed(a, ka, edge), g.zeroed(b, kb, edge)
	}
	x, y := e.Args[0].Dtype, e.Args[1].Dtype
	precision := e.Precision
	switch {
	case x.IsInteger():
		a, b = g.As(a, operand(x, y)), g.As(b, operand(x, y))
	case x.IsFloat() && x != tile.Float32:
		precision = tile.Highest // narrow floats have exact products on any device
	}
	return g.dot(a, b, 0, e.TransA, e.TransB, working(e.Dtype).Elem, precision)
}

// zeroed is x with zero where edge pads it along dim.
func (g *grid) zeroed(x value, dim int, edge tile.Edge) value {
	at := g.iota(dim, x.Dims)
	inside := g.broadcast(g.inside(edge.Ref, edge.Dim, edge.Offset), x.Dims)
	outside := g.compare("GE", at, inside)
	if edge.From > 0 {
		outside = g.Apply("and", outside, g.compare("GE", at, g.Constant(at.Type, float64(edge.From))))
	}
	if edge.To < x.Dims[dim] {
		outside = g.Apply("and", outside, g.compare("LT", at, g.Constant(at.Type, float64(edge.To))))
	}
	return g.choose(outside, g.Constant(x.Type, 0), x)
}

// matmul is the dot_general of a baseline: operands as they are stored, result in p.Acc.
func (t *text) matmul(p problem.Matmul, a, b value) value {
	elem := operand(p.A, p.B)
	a, b = t.As(a, elem), t.As(b, elem)
	batch := 0
	if p.Batch > 1 {
		batch = 1
	}
	return t.dot(a, b, batch, false, p.TransB, storage(p.Acc), p.Precision)
}

// operand is the element type in which operands meet: their own if it is one, else one wide
// enough for every value of both. Plugins differ in how they take two of 4 bits; widened, all
// take it, and fold the conversion into the product where they can.
func operand(a, b tile.Dtype) string {
	switch {
	case a == b && a.Bits() > 4:
		return storage(a)
	case a.IsFloat():
		return "bf16" // floats of up to 8 bits are the only ones that Dot mixes
	case a == tile.Uint8 || b == tile.Uint8:
		return "i32"
	}
	return "i8"
}

// dot is the product of two matrices, or of as many as the batch leading dimensions count, 0
// or 1. Behind these a may have more dimensions than a matrix, which the result has too: all
// its matrices there meet one of b. transA and transB say that an operand stands transposed.
func (t *text) dot(a, b value, batch int, transA, transB bool, result string, p tile.Precision) value {
	m, ka := len(a.Dims)-2, len(a.Dims)-1
	if transA {
		m, ka = ka, m
	}
	kb, n := batch, batch+1
	if transB {
		kb, n = n, kb
	}
	to := tensor{Elem: result, Dims: append(append([]int(nil), a.Dims[:len(a.Dims)-2]...), a.Dims[m], b.Dims[n])}
	batching := ""
	if batch > 0 {
		batching = "batching_dims = [0] x [0], "
	}
	precision := strings.ToUpper(p.String())
	return t.Op(to, "dot_general", fmt.Sprintf("%scontracting_dims = [%d] x [%d], precision = [%s, %s]", batching, ka, kb, precision, precision), a, b)
}

// normalCDF is Φ(x), elementwise.
func (t *text) normalCDF(x value) value {
	x = t.times(x, -math.Sqrt2/2)
	v := t.Fresh(x.Type)
	t.Line("%s = chlo.erfc %s : %s -> %s", v.Name, x.Name, mlir.Tensor(x.Type), mlir.Tensor(x.Type))
	return t.times(v, 0.5)
}

// cast converts x, the working value of dtype from, to the working value of to:
// floats round to nearest even, integers saturate, NaN becomes integer 0.
func (t *text) cast(x value, from, to tile.Dtype) value {
	switch {
	case from == to:
		return x
	case from == tile.Bool:
		return t.As(x, working(to).Elem)
	case to == tile.Bool:
		n := t.cast(x, from, tile.Int32)
		return t.compare("GT", n, t.Constant(n.Type, 0))
	case to.IsFloat() && from.IsFloat():
		return t.rounded(x, to)
	case to.IsFloat():
		if to == tile.BFloat16 && from == tile.Int32 {
			x = t.sticky(x)
		}
		return t.rounded(t.As(x, "f32"), to)
	case from.IsFloat():
		return t.toInteger(x, to)
	}
	lo, hi := to.Range()
	if from, top := from.Range(); lo <= from && top <= hi {
		return x
	}
	return t.clamp(lo, x, hi)
}

// output is cast from a working value to an array of to that a plugin gives
// back. Between floats it is the device's own conversion.
func (t *text) output(x value, from, to tile.Dtype) value {
	if !from.IsFloat() || !to.IsFloat() {
		x = t.cast(x, from, to)
	}
	return t.As(x, storage(to))
}

// sticky makes a large i32 a number that f32 holds and that rounds to the same
// bfloat16: all that is lost below is one bit that says whether anything was.
// Converting to f32 first would round twice.
func (t *text) sticky(x value) value {
	const low = 1<<9 - 1
	typ := x.Type
	lost := t.compare("NE", t.Apply("and", x, t.Constant(typ, low)), t.Constant(typ, 0))
	bit := t.choose(lost, t.Constant(typ, (low+1)/2), t.Constant(typ, 0))
	y := t.Apply("or", t.Apply("and", x, t.Constant(typ, ^low)), bit)
	exact := t.Apply("and", t.compare("LT", x, t.Constant(typ, 1<<24)), t.compare("GT", x, t.Constant(typ, -1<<24)))
	return t.choose(exact, x, y)
}

// toInteger rounds a float to nearest even and saturates. The largest int32 is
// no f32, so that the end of the range needs a comparison.
func (t *text) toInteger(x value, to tile.Dtype) value {
	typ := x.Type
	x = t.choose(t.compare("EQ", x, x), x, t.Constant(typ, 0))
	x = t.Apply("round_nearest_even", x)
	lo, hi := to.Range()
	top := min(hi, 1<<31-128)
	y := t.clamp(lo, x, top)
	n := t.As(y, "i32")
	if to != tile.Int32 {
		return n
	}
	return t.choose(t.compare("GE", x, t.Constant(typ, 1<<31)), t.Constant(n.Type, hi), n)
}

// rounded rounds an f32 to the values of d. Converting to d and back would not
// do: compilers are free to take such a pair away.
func (t *text) rounded(x value, d tile.Dtype) value {
	switch d {
	case tile.BFloat16:
		return t.Op(x.Type, "reduce_precision", "format = e8m7", x)
	case tile.Float16:
		return t.Op(x.Type, "reduce_precision", "format = e5m10", x)
	case tile.Float4E2M1FN:
		return t.roundedNarrow(t.clamp(-6, x, 6), 1, 0, 6, 0)
	case tile.Float8E8M0FNU:
		return t.powerOfTwo(x)
	case tile.Float8E4M3FN:
		return t.roundedNarrow(x, 3, -6, 448, 0x7FC00000)
	case tile.Float8E5M2:
		return t.roundedNarrow(x, 2, -14, 57344, 0x7F800000)
	}
	return x
}

// powerOfTwo rounds to the nearest power of two, ties up; what has no logarithm is NaN.
func (t *text) powerOfTwo(x value) value {
	i := x.Of("i32")
	bits := t.Apply("add", t.Op(i, "bitcast_convert", "", x), t.Constant(i, 1<<22))
	y := t.Op(x.Type, "bitcast_convert", "", t.Apply("and", bits, t.Constant(i, 0x7F800000)))
	has := t.Apply("and", t.compare("GT", x, t.Constant(x.Type, 0)), t.compare("LT", x, t.Constant(x.Type, 0x1.8p127)))
	return t.choose(has, y, t.Constant(x.Type, math.NaN()))
}

// roundedNarrow rounds to a multiple of the distance between neighbours, which is a power of two
// made from x's own exponent; beyond the largest number comes what has the bits over.
func (t *text) roundedNarrow(x value, mantissa, minExp int, largest float64, over int) value {
	f, i := x.Type, x.Of("i32")
	bits := t.Op(i, "bitcast_convert", "", x)
	exponent := t.Apply("and", t.Apply("shift_right_logical", bits, t.Constant(i, 23)), t.Constant(i, 0xFF))
	exponent = t.Apply("maximum", exponent, t.Constant(i, float64(minExp+127)))
	// Infinity and NaN have no neighbours; any distance leaves them as they are.
	exponent = t.Apply("minimum", exponent, t.Constant(i, 254))
	step := t.Apply("shift_left", t.Apply("subtract", exponent, t.Constant(i, float64(mantissa))), t.Constant(i, 23))
	distance := t.Op(f, "bitcast_convert", "", step)
	y := t.Apply("multiply", t.Apply("round_nearest_even", t.Apply("divide", x, distance)), distance)
	beyond := t.compare("GT", t.Apply("abs", y), t.Constant(f, largest))
	limit := t.Apply("or", t.Apply("and", bits, t.Constant(i, -1<<31)), t.Constant(i, float64(over)))
	return t.choose(beyond, t.Op(f, "bitcast_convert", "", limit), y)
}

// wrapped keeps the bits of an i32 that integer type d has.
func (t *text) wrapped(x value, d tile.Dtype) value {
	typ := x.Type
	switch d {
	case tile.Uint8:
		return t.Apply("and", x, t.Constant(typ, 0xFF))
	case tile.Int8, tile.Int4:
		by := t.Constant(typ, float64(32-d.Bits()))
		return t.Apply("shift_right_arithmetic", t.Apply("shift_left", x, by), by)
	}
	return x
}
