package triton

import (
	"math"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

var nan = math.NaN()

// floatOps are the elementwise operations on floats that are one of the text's.
var floatOps = mlir.FloatOps(map[tile.Op]string{tile.OpDiv: "tt.precise_divf"})

// expr is the value of e: as narrow as it came from memory, or in its working
// type, where floats are not rounded between the places where the program rounds.
// It may be smaller than e's shape: a scalar or a tensor still to be broadcast.
func (k *kernel) expr(e *tile.Expr) value {
	return k.memo.Of(e, k.apply)
}

// arg is operand i of e in its working type.
func (k *kernel) arg(e *tile.Expr, i int) value { return k.values().Arg(e, i) }

func (k *kernel) apply(e *tile.Expr) value {
	switch e.Op {
	case tile.OpLoad:
		return k.load(e.Ref)
	case tile.OpIota:
		dims := physical(e.Shape, k.least)
		return k.iota(e.Dim+len(dims)-len(e.Shape), dims)
	case tile.OpDot:
		return k.dot(e, constant(mlir.Working(e.Dtype), 0))
	case tile.OpAdd:
		if k.sums[e] {
			return k.addTo(e, constant(mlir.Working(e.Dtype), 0))
		}
	case tile.OpTanh, tile.OpRsqrt, tile.OpRoundEven:
		return k.function(e.Op, k.arg(e, 0))
	case tile.OpExp2:
		return k.unary("math.exp", k.binary("arith.mulf", k.arg(e, 0), constant("f32", math.Ln2)))
	case tile.OpReduceMax, tile.OpReduceSum:
		return k.reduction(e)
	case tile.OpSlice:
		return k.slice(e)
	case tile.OpConcat:
		return k.concat(e)
	}
	return k.values().Write(e)
}

// reduction takes the largest or the sum along a dimension, kept as 1. What fills
// it up to a power of two counts for nothing.
func (k *kernel) reduction(e *tile.Expr) value {
	d, x := e.Dtype, e.Args[0]
	op, neutral := "arith.addf", 0.0
	switch {
	case e.Op == tile.OpReduceMax && d.IsFloat():
		op, neutral = "arith.maximumf", math.Inf(-1)
	case e.Op == tile.OpReduceMax:
		op, neutral = "arith.maxsi", math.MinInt32
	case d.IsInteger():
		op = "arith.addi"
	}
	v := k.wide(k.expr(x), x.Dtype)
	dims := physical(x.Shape, k.least)
	dim := e.Dim + len(dims) - len(x.Shape)
	if v.number == nil && len(v.dims) == len(dims) {
		dims = stored(v, dims)
	}
	v = k.vector(v, shaped{mlir.Working(d), dims})
	if n := x.Shape[e.Dim]; n < dims[dim] {
		v = k.choose(k.below(dim, dims, knownIndex(n)), v, constant(v.elem, neutral))
	}
	return k.values().Wrapped(k.reduce(v, dim, op, " "), d)
}
