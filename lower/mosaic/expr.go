package mosaic

import (
	"math"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// floatOps are the elementwise operations on floats that are one of the text's.
var floatOps = mlir.FloatOps(map[tile.Op]string{
	tile.OpDiv: "arith.divf", tile.OpExp2: "math.exp2", tile.OpLog: "math.log", tile.OpTanh: "math.tanh",
	tile.OpRsqrt: "math.rsqrt", tile.OpRoundEven: "math.roundeven",
})

// expr is the value of e: as narrow as it came from memory, or in its working
// type, where floats are not rounded between the places where the program rounds.
// It may be smaller than e's shape: a scalar or a vector still to be broadcast.
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
		dims := physical(e.Shape)
		return k.iota(e.Dim+len(dims)-len(e.Shape), dims)
	case tile.OpDot:
		to := shaped{elem: mlir.Working(e.Dtype), dims: e.Shape}
		return k.dot(e, k.constant(to, 0))
	case tile.OpReduceMax, tile.OpReduceSum:
		return k.reduce(e)
	case tile.OpSlice:
		return k.slice(e)
	case tile.OpConcat:
		return k.concat(e)
	}
	return k.values().Write(e)
}

// reduce takes the largest or the sum along a dimension, kept as 1.
func (k *kernel) reduce(e *tile.Expr) value {
	d := e.Dtype
	kind, first := "add", 0.0
	if e.Op == tile.OpReduceMax {
		kind, first = "maximumf", math.Inf(-1)
		if d.IsInteger() {
			kind, first = "maxsi", math.MinInt32
		}
	}
	x := k.vector(k.arg(e, 0), shaped{elem: mlir.Working(d), dims: physical(e.Args[0].Shape)})
	dim := e.Dim + len(x.dims) - len(e.Shape)
	to := shaped{elem: x.elem, dims: slices.Delete(slices.Clone(x.dims), dim, dim+1)}
	v := k.op(to, "vector.multi_reduction", "kind = #vector.kind<"+kind+">, reduction_dims = array<i64: "+commas([]int{dim})+">",
		x, k.constant(to, first))
	return k.values().Wrapped(k.cast(v, physical(e.Shape)), d)
}
