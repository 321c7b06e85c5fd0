package triton

import (
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// vector is v with all the elements of type to: constants are written, scalars
// and smaller tensors repeated.
func (k *kernel) vector(v value, to shaped) value {
	switch {
	case v.number != nil:
		return k.number(*v.number, to)
	case slices.Equal(v.dims, to.dims):
		return v
	case v.dims == nil:
		return k.once(to.of(v.elem), "tt.splat %s : %s -> %s", v.name, v.shaped, to.of(v.elem))
	}
	for len(v.dims) < len(to.dims) {
		from := v.shaped
		v = k.once(shaped{v.elem, mlir.Leading(v.dims, len(v.dims)+1)}, "tt.expand_dims %s {axis = 0 : i32} : %s -> %s", v.name, from, shaped{v.elem, mlir.Leading(v.dims, len(v.dims)+1)})
	}
	for d, n := range v.dims {
		if n != 1 && n != to.dims[d] {
			v = k.reduce(v, d, "arith.max", "") // all alike: what a product made of one row
		}
	}
	if slices.Equal(v.dims, to.dims) {
		return v
	}
	return k.once(to.of(v.elem), "tt.broadcast %s : %s -> %s", v.name, v.shaped, to.of(v.elem))
}

// number is x in every element of a type. Narrow floats have no spelling of
// infinity in common.
func (k *kernel) number(x float64, to shaped) value {
	if to.isFloat8() && !mlir.IsFinite(x) {
		w := k.constant(to.of("f32"), x)
		return k.pure(to, []value{w}, "tt.fp_to_fp %s, rounding = rtne : %s -> %s", w.name, w.shaped, to)
	}
	return k.constant(to, x)
}

// wide is v, a value of d, as it is computed with.
func (k *kernel) wide(v value, d tile.Dtype) value {
	to := v.of(mlir.Working(d))
	if v.number != nil || v.elem == to.elem {
		v.shaped = to
		return v
	}
	op := "arith.extsi %s : %s to %s"
	switch {
	case v.isFloat8():
		op = "tt.fp_to_fp %s : %s -> %s"
	case d.IsFloat():
		op = "arith.extf %s : %s to %s"
	case d == tile.Uint8:
		op = "arith.extui %s : %s to %s"
	}
	return k.once(to, op, v.name, v.shaped, to)
}

// narrow is v, a value of d, as it is held; floats round to nearest even.
func (k *kernel) narrow(v value, d tile.Dtype) value {
	to := v.of(storage[d])
	switch {
	case v.elem == to.elem:
		return v
	case v.number != nil:
		v.shaped = to
		return v
	case d == tile.Float8E4M3FN:
		// What is past the largest is NaN; the hardware would saturate.
		over := k.compare(k.unary("math.absf", v), tile.GT, constant("f32", 464))
		v = k.choose(over, constant("f32", nan), v)
		return k.float8(v, to)
	case d == tile.Float8E5M2:
		above := k.compare(v, tile.GE, constant("f32", 61440))
		below := k.compare(v, tile.LE, constant("f32", -61440))
		w := k.float8(v, to)
		w = k.choose(above, k.infinity(w.shaped, 0x7C), w)
		return k.choose(below, k.infinity(w.shaped, 0xFC), w)
	case d.IsFloat():
		return k.once(to, "arith.truncf %s : %s to %s", v.name, v.shaped, to)
	}
	return k.once(to, "arith.trunci %s : %s to %s", v.name, v.shaped, to)
}

func (k *kernel) float8(v value, to shaped) value {
	to.dims = v.dims
	if v.dims == nil { // conversions are of tensors
		v = k.vector(v, shaped{v.elem, []int{1, 1}})
		to.dims = v.dims
	}
	return k.once(to, "tt.fp_to_fp %s, rounding = rtne : %s -> %s", v.name, v.shaped, to)
}

// infinity is a constant of float8_e5m2 by its bits.
func (k *kernel) infinity(to shaped, bits int) value {
	return k.pure(to, nil, "arith.constant dense<0x%02X> : %s", bits, to)
}

// floats makes scalars tensors of one element: not every function has a scalar.
func (k *kernel) floats(vs []value) []value {
	if vs[0].dims == nil && vs[0].isFloat() {
		for i, v := range vs {
			vs[i] = k.vector(v, shaped{v.elem, []int{1, 1}})
		}
	}
	return vs
}

// unary and binary write operations on one and two values of one type.
func (k *kernel) unary(op string, x value) value {
	x = k.floats(k.matched(x))[0]
	return k.op(x.shaped, "%s %s : %s", op, x.name, x.shaped)
}

func (k *kernel) binary(op string, x, y value) value {
	vs := k.floats(k.matched(x, y))
	return k.op(vs[0].shaped, "%s %s : %s", op, names(vs), vs[0].shaped)
}

// floatPredicates are those of arith.cmpf: false of NaN, but for NE, which is true.
var floatPredicates = map[tile.Comparison]string{
	tile.EQ: "oeq", tile.NE: "une", tile.LT: "olt", tile.LE: "ole", tile.GT: "ogt", tile.GE: "oge",
}

// compare is x op y.
func (k *kernel) compare(x value, op tile.Comparison, y value) value {
	vs := k.floats(k.matched(x, y))
	kind, predicate := "arith.cmpi", integerPredicates[op]
	if vs[0].isFloat() {
		kind, predicate = "arith.cmpf", floatPredicates[op]
	}
	return k.op(vs[0].of("i1"), "%s %s, %s : %s", kind, predicate, names(vs), vs[0].shaped)
}

// reduce combines the elements along a dimension, kept as 1.
func (k *kernel) reduce(x value, dim int, op, suffix string) value {
	if suffix == "" {
		suffix = map[bool]string{true: "imumf", false: "si"}[x.isFloat()]
	}
	op += strings.TrimSpace(suffix)
	to := shaped{x.elem, slices.Delete(slices.Clone(x.dims), dim, dim+1)}
	v := k.fresh(to)
	k.line(`%s = "tt.reduce"(%s) <{axis = %d : i32}> ({`, v.name, x.name, dim)
	n := v.name[1:]
	k.line("^bb0(%%x%s: %s, %%y%s: %s):", n, x.elem, n, x.elem)
	k.line("  %%z%s = %s %%x%s, %%y%s : %s", n, op, n, n, x.elem)
	k.line("  tt.reduce.return %%z%s : %s", n, x.elem)
	k.line("}) : (%s) -> %s", x.shaped, to)
	kept := slices.Clone(x.dims)
	kept[dim] = 1
	return k.op(shaped{x.elem, kept}, "tt.expand_dims %s {axis = %d : i32} : %s -> %s", v.name, dim, to, shaped{x.elem, kept})
}

// iota counts along a dimension, in every element.
func (k *kernel) iota(dim int, dims []int) value { return k.spread(k.along(dim, dims), dims) }

func constant(elem string, x float64) value { return value{shaped: shaped{elem: elem}, number: &x} }

func integer(x int) value { return constant("i32", float64(x)) }

func boolean(x bool) value {
	if x {
		return constant("i1", 1)
	}
	return constant("i1", 0)
}
