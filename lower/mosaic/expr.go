package mosaic

import (
	"math"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// floatOps and integerOps are the elementwise operations that are one of the
// text's. What floats compute is in float32, integers in int32.
var (
	floatOps = map[tile.Op]string{
		tile.OpAdd: "arith.addf", tile.OpSub: "arith.subf", tile.OpMul: "arith.mulf", tile.OpDiv: "arith.divf",
		tile.OpMax: "arith.maximumf", tile.OpMin: "arith.minimumf", tile.OpNeg: "arith.negf", tile.OpAbs: "math.absf",
		tile.OpExp: "math.exp", tile.OpExp2: "math.exp2", tile.OpLog: "math.log", tile.OpTanh: "math.tanh", tile.OpErf: "math.erf", tile.OpRsqrt: "math.rsqrt",
		tile.OpRoundEven: "math.roundeven",
	}
	integerOps = map[tile.Op]string{
		tile.OpAdd: "arith.addi", tile.OpSub: "arith.subi", tile.OpMul: "arith.muli",
		tile.OpMax: "arith.maxsi", tile.OpMin: "arith.minsi", tile.OpAbs: "math.absi",
	}
)

// expr is the value of e: as narrow as it came from memory, or in its working
// type, where floats are not rounded between the places where the program rounds.
// It may be smaller than e's shape: a scalar or a vector still to be broadcast.
func (k *kernel) expr(e *tile.Expr) value {
	if v, ok := k.memo[e]; ok {
		return v
	}
	v := k.apply(e)
	k.memo[e] = v
	return v
}

// arg is operand i of e in its working type.
func (k *kernel) arg(e *tile.Expr, i int) value { return k.wide(k.expr(e.Args[i]), e.Args[i].Dtype) }

func (k *kernel) apply(e *tile.Expr) value {
	switch e.Op {
	case tile.OpLoad:
		return k.load(e.Ref)
	case tile.OpConst:
		if e.Dtype == tile.InvalidDtype {
			return constant("f32", e.Value)
		}
		return constant(mlir.Working(e.Dtype), e.Dtype.Round(e.Value))
	case tile.OpIndex:
		if x := k.index(e.Index); !x.known {
			return x.value
		} else {
			return integer(x.n)
		}
	case tile.OpIota:
		dims := physical(e.Shape)
		return k.iota(e.Dim+len(dims)-len(e.Shape), dims)
	case tile.OpInBounds:
		return k.inBounds(e, tile.Const(0), e.Shape)
	case tile.OpDot:
		to := shaped{mlir.Working(e.Dtype), e.Shape}
		return k.dot(e, k.constant(to, 0))
	case tile.OpAnd, tile.OpOr:
		return k.logical(e)
	case tile.OpNot:
		return k.not(k.expr(e.Args[0]))
	case tile.OpCompare:
		return k.compare(k.arg(e, 0), e.Cmp, k.arg(e, 1))
	case tile.OpSelect:
		return k.selected(e)
	case tile.OpLogistic:
		one := constant("f32", 1)
		return k.binary("arith.divf", one, k.binary("arith.addf", one, k.unary("math.exp", k.unary("arith.negf", k.arg(e, 0)))))
	case tile.OpReduceMax, tile.OpReduceSum:
		return k.reduce(e)
	case tile.OpBroadcast:
		return k.expr(e.Args[0]) // repeated where it is used
	case tile.OpCast:
		return k.convert(k.expr(e.Args[0]), e.Args[0].Dtype, e.Dtype)
	case tile.OpSlice:
		return k.slice(e)
	case tile.OpConcat:
		return k.concat(e)
	}
	return k.elementwise(e)
}

func (k *kernel) elementwise(e *tile.Expr) value {
	ops := floatOps
	if e.Dtype.IsInteger() {
		ops = integerOps
	}
	op, ok := ops[e.Op]
	var v value
	switch {
	case e.Op == tile.OpNeg && e.Dtype.IsInteger():
		v = k.binary("arith.subi", integer(0), k.arg(e, 0))
	case !ok || e.Dtype == tile.Bool:
		k.refuse(e.Op.String(), "", "it has no lowering on "+e.Dtype.String())
		return constant(mlir.Working(e.Dtype), 0)
	case len(e.Args) == 1:
		v = k.unary(op, k.arg(e, 0))
	default:
		v = k.binary(op, k.arg(e, 0), k.arg(e, 1))
	}
	if e.Op == tile.OpMax || e.Op == tile.OpMin {
		return v
	}
	return k.wrapped(v, e.Dtype)
}

// selected is a Select; values that come narrow from memory stay so.
func (k *kernel) selected(e *tile.Expr) value {
	cond, x, y := k.expr(e.Args[0]), k.expr(e.Args[1]), k.expr(e.Args[2])
	narrow := func(v value) bool {
		return v.elem == storage[e.Dtype] || v.number != nil && isFinite(*v.number)
	}
	if narrow(x) && narrow(y) && (x.number == nil || y.number == nil) {
		return k.choose(cond, k.narrow(x, e.Dtype), k.narrow(y, e.Dtype))
	}
	return k.choose(cond, k.wide(x, e.Dtype), k.wide(y, e.Dtype))
}

// logical is And or Or; an operand known to be decisive settles it.
func (k *kernel) logical(e *tile.Expr) value {
	op, decisive := "arith.andi", 0.0
	if e.Op == tile.OpOr {
		op, decisive = "arith.ori", 1
	}
	x, y := k.expr(e.Args[0]), k.expr(e.Args[1])
	if x.number == nil {
		x, y = y, x
	}
	switch {
	case x.number == nil:
		return k.binary(op, x, y)
	case *x.number == decisive:
		return x
	}
	return y
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
	x := k.vector(k.arg(e, 0), shaped{mlir.Working(d), physical(e.Args[0].Shape)})
	dim := e.Dim + len(x.dims) - len(e.Shape)
	to := shaped{x.elem, slices.Delete(slices.Clone(x.dims), dim, dim+1)}
	v := k.op(to, "vector.multi_reduction", "kind = #vector.kind<"+kind+">, reduction_dims = array<i64: "+commas([]int{dim})+">",
		x, k.constant(to, first))
	return k.wrapped(k.cast(v, physical(e.Shape)), d)
}
