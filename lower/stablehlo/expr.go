package stablehlo

import (
	"math"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
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
		if edge.Unknown || edge.Stretched { // Verify refuses both
			g.Refuse("dot", edge.Ref.Name, "where its padding is along the contraction cannot be told")
			continue
		}
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
