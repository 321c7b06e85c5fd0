package triton

import (
	"fmt"
	"math"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// floatOps are the elementwise operations on floats that are one of the text's.
var floatOps = mlir.FloatOps(map[tile.Op]string{tile.OpDiv: "tt.precise_divf"})

// Own writes loads, products, reductions, what moves elements, and functions that Triton has
// not: in operations of its own.
func (k *kernel) Own(e *tile.Expr) (v value, own bool) {
	switch e.Op {
	case tile.OpLoad:
		return k.load(e.Ref), true
	case tile.OpIota:
		dims := k.Physical(e.Shape)
		return k.spread(k.along(e.Dim+len(dims)-len(e.Shape), dims), dims), true
	case tile.OpDot:
		return k.dot(e, mlir.Number(mlir.Working(e.Dtype), 0)), true
	case tile.OpAdd:
		if k.sums[e] {
			return k.addTo(e, mlir.Number(mlir.Working(e.Dtype), 0)), true
		}
	case tile.OpTanh, tile.OpRsqrt, tile.OpRoundEven:
		return k.function(e.Op, k.Arg(e, 0)), true
	case tile.OpExp2:
		return k.Apply("math.exp", k.Apply("arith.mulf", k.Arg(e, 0), mlir.Number("f32", math.Ln2))), true
	case tile.OpReduceMax, tile.OpReduceSum:
		return k.reduction(e), true
	case tile.OpSlice:
		return k.slice(e), true
	case tile.OpConcat:
		return k.concat(e), true
	}
	return v, false
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
	v := k.Wide(k.Expr(x), x.Dtype)
	dims := k.Physical(x.Shape)
	dim := e.Dim + len(dims) - len(x.Shape)
	if len(v.Dims) == len(dims) {
		dims = stored(v, dims)
	}
	v = k.Vector(v, shaped{Elem: mlir.Working(d), Dims: dims})
	if n := x.Shape[e.Dim]; n < dims[dim] {
		v = k.Choose(k.Below(dim, dims, k.Int(n)), v, mlir.Number(v.Elem, neutral))
	}
	return k.Wrapped(k.reduce(v, dim, op), d)
}

// reduce combines the elements along a dimension, kept as 1.
func (k *kernel) reduce(x value, dim int, op string) value {
	to := shaped{Elem: x.Elem, Dims: slices.Delete(slices.Clone(x.Dims), dim, dim+1)}
	v := k.Fresh(to)
	k.Line(`%s = "tt.reduce"(%s) <{axis = %d : i32}> ({`, v.Name, x.Name, dim)
	n := v.Name[1:]
	k.Line("^bb0(%%x%s: %s, %%y%s: %s):", n, x.Elem, n, x.Elem)
	k.Line("  %%z%s = %s %%x%s, %%y%s : %s", n, op, n, n, x.Elem)
	k.Line("  tt.reduce.return %%z%s : %s", n, x.Elem)
	k.Line("}) : (%s) -> %s", spelled(x.Type), spelled(to))
	kept := slices.Clone(x.Dims)
	kept[dim] = 1
	return k.Op(shaped{Elem: x.Elem, Dims: kept}, "tt.expand_dims", axis(dim), v)
}

func axis(dim int) string { return fmt.Sprintf("axis = %d : i32", dim) }

// Spread repeats the elements of v.
func (k *kernel) Spread(v value, to shaped) value {
	if v.Dims == nil {
		return k.Once(to, "tt.splat", "", v)
	}
	for len(v.Dims) < len(to.Dims) {
		v = k.Once(shaped{Elem: v.Elem, Dims: mlir.Leading(v.Dims, len(v.Dims)+1)}, "tt.expand_dims", axis(0), v)
	}
	for d, n := range v.Dims {
		if n != 1 && n != to.Dims[d] { // all alike: what a product made of one row
			op := "arith.maxsi"
			if v.IsFloat() {
				op = "arith.maximumf"
			}
			v = k.reduce(v, d, op)
		}
	}
	if v.Equal(to) {
		return v
	}
	return k.Once(to, "tt.broadcast", "", v)
}

// Round is v in a narrower type.
func (k *kernel) Round(v value, to shaped) value {
	if _, known := v.Known(); known {
		v.Type = to
		return v
	}
	float8 := func(v value) value {
		if v.Dims == nil { // conversions are of tensors
			v = k.Vector(v, shaped{Elem: v.Elem, Dims: []int{1, 1}})
		}
		return k.Once(v.Of(to.Elem), "arith.truncf", "", v)
	}
	switch to.Elem {
	case "f8E4M3FN":
		// What is past the largest is NaN; the hardware would saturate.
		over := k.Compare(k.Apply("math.absf", v), tile.GT, mlir.Number("f32", 464))
		return float8(k.Choose(over, mlir.Number("f32", math.NaN()), v))
	case "f8E5M2":
		above := k.Compare(v, tile.GE, mlir.Number("f32", 61440))
		below := k.Compare(v, tile.LE, mlir.Number("f32", -61440))
		w := float8(v)
		w = k.Choose(above, k.Pure(w.Type, "arith.constant", "dense<0x7C>"), w)
		return k.Choose(below, k.Pure(w.Type, "arith.constant", "dense<0xFC>"), w)
	}
	return k.Once(to, "arith.truncf", "", v)
}

// The functions that Triton leaves to a library of CUDA's, which is in no wheel
// beside the plugin, are written out here.

// function is a function of floats.
func (k *kernel) function(op tile.Op, x value) value {
	if _, known := x.Known(); known {
		x = k.Vector(x, shaped{Elem: "f32", Dims: []int{1, 1}})
	}
	switch op {
	case tile.OpRsqrt:
		return k.Apply("tt.precise_divf", mlir.Number("f32", 1), k.Apply("tt.precise_sqrt", x))
	case tile.OpRoundEven:
		return k.RoundEven(x)
	}
	return k.tanh(x)
}

// RoundEven rounds the size of x by adding 2²³, whose last bit counts ones. What is
// no smaller has no fraction.
func (k *kernel) RoundEven(x value) value {
	size := k.Apply("math.absf", x)
	r := k.Apply("arith.subf", k.Apply("arith.addf", size, mlir.Number("f32", 1<<23)), mlir.Number("f32", 1<<23))
	r = k.Choose(k.Compare(x, tile.LT, mlir.Number("f32", 0)), k.Apply("arith.negf", r), r)
	return k.Choose(k.Compare(size, tile.LT, mlir.Number("f32", 1<<23)), r, x)
}

// Clamp is x, but lo where it is less and hi where it is more.
func (k *kernel) Clamp(x value, lo, hi float64) value {
	return k.Apply("arith.maximumf", k.Apply("arith.minimumf", x, mlir.Number("f32", hi)), mlir.Number("f32", lo))
}

// tanh is the quotient of two polynomials, those of Eigen's generic_fast_tanh_float;
// what is small enough is its own tanh.
func (k *kernel) tanh(x value) value {
	y := k.Clamp(x, -7.90531110763549805, 7.90531110763549805)
	z := k.Apply("arith.mulf", y, y)
	p := k.Polynomial(z, -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
		1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)
	q := k.Polynomial(z, 1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
	r := k.Apply("tt.precise_divf", k.Apply("arith.mulf", y, p), q)
	return k.Choose(k.Compare(k.Apply("math.absf", x), tile.LT, mlir.Number("f32", 0.0004)), x, r)
}

// slice takes elements along one dimension. Of an array it reads no more than
// those; of what is in registers it gathers them.
func (k *kernel) slice(e *tile.Expr) value {
	x := e.Args[0]
	start := k.Index(e.Index)
	switch x.Op {
	case tile.OpLoad:
		if _, whole := k.loads[x.Ref]; x.Ref.Kind != tile.Scratch && !whole {
			return k.loadFrom(x.Ref, k.startOf(e), e.Shape, nil)
		}
	case tile.OpInBounds:
		if mlir.Counted(x.Shape) == e.Dim {
			return k.InBounds(x, e.Index, e.Shape)
		}
	}
	v := k.Expr(x)
	rank := max(2, len(x.Shape))
	dim := e.Dim + rank - len(x.Shape)
	if v.Dims == nil || len(v.Dims) < rank || v.Dims[dim] == 1 || x.Shape[e.Dim] == 1 {
		return v // still to be repeated along it
	}
	if e.Shape[e.Dim] == x.Shape[e.Dim] {
		return v
	}
	to := slices.Clone(v.Dims)
	to[dim] = padded(e.Shape[e.Dim], k.least)
	at := k.along(dim, to)
	if !start.Is(0) {
		at = k.cheap("arith.addi", at, k.vectorOf(start, at.Type))
	}
	return k.gathered(v, e.Dtype, dim, at, to, x.Shape[e.Dim])
}

// startOf is where a slice of a block begins, by dimension.
func (k *kernel) startOf(e *tile.Expr) []value {
	at := slices.Repeat([]value{k.Int(0)}, len(e.Shape))
	at[e.Dim] = k.Index(e.Index)
	return at
}

// shown reads an operand of shownOf from memory as it is: it goes through no registers.
func (k *kernel) shown(e *tile.Expr) (v value, ok bool) {
	switch x := shownOf(e); {
	case x == nil:
		return v, false
	case x.Op == tile.OpSlice:
		return k.loadFrom(x.Args[0].Ref, k.startOf(x), x.Shape, e.Args[0]), true
	default:
		return k.loadFrom(x.Ref, nil, x.Shape, e.Args[0]), true
	}
}

// shownOf is the part of an input that e is where a condition holds, and zero elsewhere; nil for
// anything else.
func shownOf(e *tile.Expr) *tile.Expr {
	if e.Op != tile.OpSelect || e.Args[2].Op != tile.OpBroadcast {
		return nil
	}
	if zero := e.Args[2].Args[0]; zero.Op != tile.OpConst || zero.Value != 0 {
		return nil
	}
	x := e.Args[1]
	if from := source(x); from == nil || from.Ref.Kind != tile.In || from.Dtype.Bits() == 4 || x.Op == tile.OpCast {
		return nil
	}
	return x
}

// gathered takes the elements at along a dimension; those past the last of size are some other.
func (k *kernel) gathered(v value, d tile.Dtype, dim int, at value, to []int, size int) value {
	if d == tile.Bool {
		v = k.FromBool(v)
	} else {
		v = k.Wide(v, d) // narrow elements have no gather
	}
	last := k.Constant(at.Type, float64(size-1))
	at = k.spread(k.cheap("arith.minsi", at, last), to)
	out := shaped{Elem: v.Elem, Dims: to}
	v = k.Op(out, "tt.gather", axis(dim), v, at)
	if d == tile.Bool {
		return k.ToBool(v)
	}
	return v
}

// concat puts blocks one after another: each element is gathered from the block that it is in.
func (k *kernel) concat(e *tile.Expr) value {
	if len(e.Args) == 1 {
		return k.Expr(e.Args[0])
	}
	to := k.Physical(e.Shape)
	dim := e.Dim + len(to) - len(e.Shape)
	var all value
	from := 0
	for i, x := range e.Args {
		v, d := k.Expr(x), e.Dtype
		if d == tile.Bool {
			v, d = k.FromBool(v), tile.Int32
		}
		dims := k.Physical(x.Shape)
		for o := range dims { // as many alike rows or columns as the other blocks have
			if o != dim {
				dims[o] = to[o]
			}
		}
		v = k.Vector(k.Wide(v, d), shaped{Elem: mlir.Working(d), Dims: dims})
		at := k.along(dim, to)
		if from > 0 {
			at = k.cheap("arith.maxsi", k.cheap("arith.subi", at, k.Constant(at.Type, float64(from))), k.Constant(at.Type, 0))
		}
		n := x.Shape[e.Dim]
		if x.Op == tile.OpBroadcast && mlir.Physical(x.Args[0].Shape)[dim] == 1 { // all alike
			v = k.Vector(k.Wide(k.Expr(x), d), shaped{Elem: v.Elem, Dims: to})
		} else {
			v = k.gathered(v, d, dim, at, to, n)
		}
		if i == 0 {
			all = v
		} else {
			all = k.Choose(k.Below(dim, to, k.Int(from)), all, v)
		}
		from += n
	}
	if e.Dtype == tile.Bool {
		return k.ToBool(all)
	}
	return all
}
