package triton

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// imprecise is how many products of float8 the tensor cores may add in their own,
// narrower sums before they go to float32: as many as there are, or none.
const imprecise = 1 << 30

// dot is the matrix product added to acc.
func (k *kernel) dot(e *tile.Expr, acc value) value {
	if g := k.scaled[e]; g != nil {
		return k.dotScaled(e, g, acc)
	}
	x, y := e.Args[0], e.Args[1]
	if x.Dtype == tile.Uint8 || y.Dtype == tile.Uint8 {
		k.Refuse("dot", "", "no matrix unit takes uint8 from Triton: cast it to bfloat16, which holds every value")
		return acc
	}
	ka, kb := e.Contracted()
	edges := k.partial.Contraction(e)
	for _, edge := range edges {
		if !edge.Plain() {
			k.Refuse("dot", edge.Ref.Name, "where its padding ends is not known")
			return acc
		}
	}
	d := factor(e)
	a, b := k.operand(x, d, ka, edges), k.operand(y, d, kb, edges)
	if e.TransA {
		a = k.transposed(a)
	}
	if e.TransB {
		b = k.transposed(b)
	}
	to := shaped{Elem: mlir.Working(e.Dtype), Dims: []int{a.Dims[0], b.Dims[1]}}
	acc = k.Vector(acc, to)
	attrs := ""
	switch {
	case strict(e):
		attrs = ", inputPrecision = ieee"
	case x.Dtype == tile.Float32:
		attrs = ", inputPrecision = tf32"
	case d == tile.InvalidDtype && x.Dtype.IsFloat() && x.Dtype.Bits() == 8 && e.Precision != tile.Highest:
		attrs = fmt.Sprintf(" {maxNumImpreciseAcc = %d : i32}", imprecise)
	}
	return k.Op(to, "tt.dot", attrs, a, b, acc)
}

// factor is the dtype that both operands of a product become, InvalidDtype for their own:
// bfloat16 where one is of codes.
func factor(e *tile.Expr) (d tile.Dtype) {
	if isCode(e.Args[0].Dtype) || isCode(e.Args[1].Dtype) {
		d = tile.BFloat16
	}
	return d
}

// operand is one side of a product, as d, which contracts over its dimension dim: whole
// tiles of the matrix unit, with zero wherever either side has padding.
func (k *kernel) operand(e *tile.Expr, d tile.Dtype, dim int, edges []tile.Edge) value {
	v, ok := k.shown(e)
	if !ok {
		v = k.Narrow(k.Expr(e), e.Dtype)
	}
	if d != tile.InvalidDtype {
		v = k.Convert(v, e.Dtype, d)
	}
	to := shaped{Elem: v.Elem, Dims: k.Physical(e.Shape)}
	for d := range to.Dims {
		to.Dims[d] = max(to.Dims[d], k.least)
	}
	if v.Dims != nil && v.Dims[dim] == e.Shape[dim] && e.Shape[dim] == to.Dims[dim] || k.loaded(e) && v.Dims[dim] > 1 {
		v = k.Vector(v, to)
	} else { // coordinates past the last
		v = k.Vector(v, to)
		v = k.Choose(k.Below(dim, to.Dims, k.Int(e.Shape[dim])), v, mlir.Number(v.Elem, 0))
	}
	for _, edge := range edges {
		if !k.loaded(e) || !edge.CoveredBy(k.partial.Of(e)[dim]) {
			v = k.zeroed(v, dim, edge)
		}
	}
	return v
}

// loaded reports whether an operand is a part of an input that comes from memory
// with zeros for padding: casts keep them.
func (k *kernel) loaded(e *tile.Expr) bool { return source(e) != nil }

// source is the load that an operand is, sliced and cast; nil for anything else.
func source(e *tile.Expr) *tile.Expr {
	for e.Op == tile.OpCast && e.Args[0].Dtype != tile.Bool || e.Op == tile.OpSlice {
		if e.Op == tile.OpSlice {
			if x := e.Args[0]; x.Op != tile.OpLoad {
				return nil
			}
		}
		e = e.Args[0]
	}
	if e.Op != tile.OpLoad || e.Ref.Kind == tile.Scratch || e.Dtype == tile.Float8E8M0FNU {
		return nil
	}
	return e
}

// zeroed is v with zero where edge pads it along dim.
func (k *kernel) zeroed(v value, dim int, edge tile.Edge) value {
	inside := k.Inside(edge.Ref, edge.Dim, edge.Offset)
	if edge.From > 0 {
		if n, known := inside.Int(); known {
			inside = k.Int(max(n, edge.From))
		} else {
			inside = k.Scalar("arith.maxsi", inside, k.Int(edge.From))
		}
	}
	keep := k.Below(dim, v.Dims, inside)
	if edge.To < v.Dims[dim] {
		at := k.along(dim, v.Dims)
		after := k.Pure(keep.Type, "arith.cmpi", "sge", at, k.Constant(at.Type, float64(edge.To)))
		keep = k.cheap("arith.ori", keep, after)
	}
	return k.Choose(keep, v, mlir.Number(v.Elem, 0))
}

// transposed is a matrix with rows for columns.
func (k *kernel) transposed(v value) value {
	to := shaped{Elem: v.Elem, Dims: []int{v.Dims[1], v.Dims[0]}}
	return k.Op(to, "tt.trans", "order = array<i32: 1, 0>", v)
}
