package mosaic

import (
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// floatOps are the elementwise operations on floats that are one of the text's.
var floatOps = mlir.FloatOps(map[tile.Op]string{
	tile.OpDiv: "arith.divf", tile.OpExp2: "math.exp2", tile.OpLog: "math.log", tile.OpTanh: "math.tanh",
	tile.OpRsqrt: "math.rsqrt", tile.OpRoundEven: "math.roundeven",
})

// Own writes loads, products, reductions, and what moves elements: in operations of Mosaic alone.
func (k *kernel) Own(e *tile.Expr) (v value, own bool) {
	switch e.Op {
	case tile.OpLoad:
		return k.load(e.Ref), true
	case tile.OpIota:
		dims := mlir.Physical(e.Shape)
		return k.iota(e.Dim+len(dims)-len(e.Shape), dims), true
	case tile.OpDot:
		return k.dot(e, k.Constant(shaped{Elem: mlir.Working(e.Dtype), Dims: e.Shape}, 0)), true
	case tile.OpReduceMax, tile.OpReduceSum:
		return k.reduce(e), true
	case tile.OpSlice:
		return k.slice(e), true
	case tile.OpConcat:
		return k.concat(e), true
	}
	return v, false
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
	x := k.Vector(k.Arg(e, 0), shaped{Elem: mlir.Working(d), Dims: mlir.Physical(e.Args[0].Shape)})
	dim := e.Dim + len(x.Dims) - len(e.Shape)
	to := shaped{Elem: x.Elem, Dims: slices.Delete(slices.Clone(x.Dims), dim, dim+1)}
	v := k.Op(to, "vector.multi_reduction", fmt.Sprintf("kind = #vector.kind<%s>, reduction_dims = array<i64: %d>", kind, dim), x, k.Constant(to, first))
	return k.Wrapped(k.cast(v, mlir.Physical(e.Shape)), d)
}

// Physical is that of a TPU's registers, which have two dimensions.
func (k *kernel) Physical(shape []int) []int { return mlir.Physical(shape) }

// Spread repeats the elements of v, in every lane where the type has them there.
func (k *kernel) Spread(v value, to shaped) value {
	switch {
	case v.Lanes > 0 && to.Lanes > 0:
		return v
	case to.Lanes > 0:
		v = k.Vector(v, shaped{Elem: v.Elem, Dims: to.Dims})
		v.Lanes = to.Lanes
		return v
	case v.Lanes > 0:
		return k.fromLanes(v, to.Dims)
	}
	if v.Dims != nil && len(v.Dims) < len(to.Dims) {
		if v = k.cast(v, mlir.Leading(v.Dims, len(to.Dims))); v.Equal(to) {
			return v
		}
	}
	return k.Once(to, "vector.broadcast", "", v)
}

// Round is v in a narrower type.
func (k *kernel) Round(v value, to shaped) value {
	if x, known := v.Known(); known {
		v = k.Constant(shaped{Elem: "f32", Dims: []int{1, 1}}, x)
	}
	return k.Once(v.Of(to.Elem), "arith.truncf", "", v)
}

// RoundEven rounds to the nearest integer.
func (k *kernel) RoundEven(v value) value { return k.Apply("math.roundeven", v) }

// Clamp is v between two numbers.
func (k *kernel) Clamp(v value, lo, hi float64) value {
	return k.Apply("arith.minimumf", k.Apply("arith.maximumf", v, mlir.Number("f32", lo)), mlir.Number("f32", hi))
}

// Below tells the coordinates along dim that are less than limit.
func (k *kernel) Below(dim int, dims []int, limit value) value {
	return k.Compare(k.iota(dim, dims), tile.LT, limit)
}

// iota counts along a dimension.
func (k *kernel) iota(dim int, dims []int) value {
	return k.Once(shaped{Elem: "i32", Dims: dims}, "tpu.iota", fmt.Sprintf("dimensions = array<i32: %d>", dim))
}

// cast gives a vector other dimensions of as many elements.
func (k *kernel) cast(v value, dims []int) value {
	if slices.Equal(dims, v.Dims) {
		return v
	}
	return k.Op(shaped{Elem: v.Elem, Dims: dims}, "vector.shape_cast", "", v)
}

// slice takes elements along one dimension. Of a ref it reads no more than those, from wherever
// the program says; of a computed value the place must be known while the text is written.
func (k *kernel) slice(e *tile.Expr) value {
	x := e.Args[0]
	start := k.Index(e.Index)
	from, known := start.Int()
	switch x.Op {
	case tile.OpLoad:
		if _, whole := k.loads[x.Ref]; !whole || !known {
			return k.loadFrom(x.Ref, map[int]value{e.Dim: start}, e.Shape)
		}
	case tile.OpInBounds:
		if mlir.Counted(x.Shape) == e.Dim {
			return k.InBounds(x, e.Index, e.Shape)
		}
	}
	v := k.alone(k.Expr(x))
	dim := e.Dim + len(v.Dims) - len(x.Shape)
	if v.Dims == nil || dim < 0 || v.Dims[dim] == 1 {
		return v // still to be repeated along it
	}
	if !known {
		k.Refuse("slice", "", "where it starts changes in a loop of more than "+fmt.Sprint(unrolled)+" repetitions, and it is not of a ref: store the value to scratch first")
		return v
	}
	if e.Shape[e.Dim] == v.Dims[dim] {
		return v
	}
	return k.unpacked(e.Dtype, []value{v}, func(vs []value) value { return k.along(vs[0], dim, from, e.Shape[e.Dim]) })
}

// concat puts blocks one after another.
func (k *kernel) concat(e *tile.Expr) value {
	vs := each.Of(e.Args, func(x *tile.Expr) value { return k.alone(k.Expr(x)) })
	if len(vs) == 1 {
		return vs[0]
	}
	to := mlir.Physical(e.Shape)
	dim := e.Dim + len(to) - len(e.Shape)
	return k.unpacked(e.Dtype, vs, func(vs []value) value {
		for i, x := range e.Args {
			vs[i] = k.Vector(vs[i], shaped{Elem: vs[i].Elem, Dims: mlir.Physical(x.Shape)})
		}
		return k.Op(shaped{Elem: vs[0].Elem, Dims: to}, "tpu.concatenate", fmt.Sprintf("dimension = %d : i32", dim), vs...)
	})
}

// unpacked moves elements of d around by means of move, at the full width of a
// register: narrow elements share one, and bools have none.
func (k *kernel) unpacked(d tile.Dtype, vs []value, move func([]value) value) value {
	v := move(each.Of(vs, func(v value) value {
		if d == tile.Bool {
			return k.FromBool(v)
		}
		return k.Wide(v, d)
	}))
	if d == tile.Bool {
		return k.ToBool(v)
	}
	return v
}
