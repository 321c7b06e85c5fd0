package mosaic

import (
	"fmt"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// vector is v with all the elements of type to: constants are written, scalars
// and smaller vectors repeated.
func (k *kernel) vector(v value, to shaped) value {
	switch {
	case v.number != nil:
		return k.constant(to, *v.number)
	case to.lanes:
		return k.inLane(v, to)
	case v.lanes:
		return k.fromLanes(v, to.dims)
	case slices.Equal(v.dims, to.dims):
		return v
	}
	if v.dims != nil && len(v.dims) < len(to.dims) {
		v = k.cast(v, mlir.Leading(v.dims, len(to.dims)))
		if slices.Equal(v.dims, to.dims) {
			return v
		}
	}
	return k.once("broadcast "+v.name+to.String(), func() value { return k.op(to.of(v.elem), "vector.broadcast", "", v) })
}

// wide is v, a value of d, as it is computed with.
func (k *kernel) wide(v value, d tile.Dtype) value {
	to := v.of(mlir.Working(d))
	if v.number != nil || v.elem == to.elem {
		v.shaped = to
		return v
	}
	op := "arith.extsi"
	switch {
	case d.IsFloat():
		op = "arith.extf"
	case d == tile.Uint8:
		op = "arith.extui"
	}
	return k.once(op+v.name, func() value { return k.op(to, op, "", v) })
}

// narrow is v, a value of d, as memory holds it; floats round to nearest even.
func (k *kernel) narrow(v value, d tile.Dtype) value {
	to := v.of(storage[d])
	if v.elem == to.elem {
		return v
	}
	if v.number != nil {
		if !to.isFloat() || to.elem == "f32" || to.elem == "bf16" || mlir.IsFinite(*v.number) {
			v.shaped = to
			return v
		}
		// Infinity has no spelling here that all narrow types share.
		v = k.constant(shaped{elem: "f32", dims: []int{1, 1}}, *v.number)
		to = v.of(to.elem)
	}
	op := "arith.trunci"
	if d.IsFloat() {
		op = "arith.truncf"
	}
	return k.once(op+v.name+to.elem, func() value { return k.op(to, op, "", v) })
}

// unary and binary write operations on one and two values of one type.
func (k *kernel) unary(op string, x value) value {
	x = k.matched(x)[0]
	if x.dims == nil && x.isFloat() { // the scalar unit has few functions of floats
		x = k.vector(x, shaped{elem: x.elem, dims: []int{1, 1}})
	}
	return k.op(x.shaped, op, "", x)
}

func (k *kernel) binary(op string, x, y value) value {
	vs := k.matched(x, y)
	if vs[0].dims == nil && vs[0].isFloat() {
		for i, v := range vs {
			vs[i] = k.vector(v, shaped{elem: v.elem, dims: []int{1, 1}})
		}
	}
	return k.op(vs[0].shaped, op, "", vs...)
}

// compare is x op y. No comparison of the hardware is true of a NaN, so that
// what is not equal is the opposite of what is.
func (k *kernel) compare(x value, op tile.Comparison, y value) value {
	vs := k.matched(x, y)
	to := vs[0].of("i1")
	if !vs[0].isFloat() {
		return k.op(to, "arith.cmpi", predicate(integerPredicates[op]), vs...)
	}
	if vs[0].dims == nil {
		for i, v := range vs {
			vs[i] = k.vector(v, shaped{elem: v.elem, dims: []int{1, 1}})
		}
		to = vs[0].of("i1")
	}
	if op == tile.NE {
		return k.values().Not(k.op(to, "arith.cmpf", predicate(floatPredicates[tile.EQ]), vs...))
	}
	return k.op(to, "arith.cmpf", predicate(floatPredicates[op]), vs...)
}

// floatPredicates are those of arith.cmpf, false of NaN.
var floatPredicates = map[tile.Comparison]int{tile.EQ: 1, tile.GT: 2, tile.GE: 3, tile.LT: 4, tile.LE: 5}

func (k *kernel) toBool(x value) value { return k.compare(x, tile.NE, integer(0)) }

// iota counts along a dimension.
func (k *kernel) iota(dim int, dims []int) value {
	to := shaped{elem: "i32", dims: dims}
	attrs := fmt.Sprintf("dimensions = array<i32: %d>", dim)
	return k.once("iota "+attrs+to.String(), func() value { return k.op(to, "tpu.iota", attrs) })
}

func constant(elem string, x float64) value { return value{shaped: shaped{elem: elem}, number: &x} }

func integer(x int) value { return constant("i32", float64(x)) }

func boolean(x bool) value {
	if x {
		return constant("i1", 1)
	}
	return constant("i1", 0)
}
