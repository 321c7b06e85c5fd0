package mosaic

import (
	"fmt"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// noPadding is whether no Dot of e contracts over padding in this program.
func (k *kernel) noPadding(e *tile.Expr) value {
	full := mlir.Boolean(true)
	tile.WalkExpr(e, func(x *tile.Expr) {
		if x.Op != tile.OpDot || full.Is(0) {
			return
		}
		for _, edge := range k.partial.Contraction(x) {
			t := k.Test(k.Inside(edge.Ref, edge.Dim, edge.Offset), tile.GE, k.Int(edge.To))
			switch {
			case t.Is(1):
			case t.Is(0) || full.Is(1):
				full = t
			default:
				full = k.Logic("arith.andi", full, t)
			}
			if full.Is(0) {
				return
			}
		}
	})
	return full
}

// dot is the matrix product added to acc.
func (k *kernel) dot(e *tile.Expr, acc value) value {
	x, y := e.Args[0], e.Args[1]
	if x.Dtype == tile.Uint8 || y.Dtype == tile.Uint8 {
		k.Refuse("dot", "", "no matrix unit multiplies uint8: cast it to bfloat16, which holds every value")
		return acc
	}
	a, b := k.factor(x, y.Dtype), k.factor(y, x.Dtype)
	if x.Dtype.IsInteger() && x.Dtype != y.Dtype { // int8 and int4
		a, b = k.toInt8(a), k.toInt8(b)
	}
	ka, kb := e.Contracted()
	if k.masking {
		for _, edge := range k.partial.Contraction(e) {
			if !edge.Plain() {
				k.Refuse("dot", edge.Ref.Name, "where its padding ends is not known")
				return acc
			}
			// A product with integer 0 is 0 whatever the other is; with NaN it is NaN.
			if both := e.Dtype.IsFloat(); both || a.Dims[1-ka] <= b.Dims[1-kb] {
				a = k.zeroed(a, ka, edge)
				if !both {
					continue
				}
			}
			b = k.zeroed(b, kb, edge)
		}
	}
	attrs := "dimension_numbers = #tpu.dot_dimension_numbers<" + dimensionNumbers(ka, kb) + ">"
	if e.Precision == tile.Highest && x.Dtype == tile.Float32 { // narrower floats have exact products anyway
		attrs += ", precision = #tpu.contract_precision<fp32>"
	}
	attrs += ", transpose_lhs = false, transpose_rhs = false"
	n := a.Dims[ka]
	if k.pieces > 0 && a.Elem == "i8" && b.Elem == "i8" && tile.Elements(e.Shape) <= large {
		n = k.pieces
	}
	for from, all := 0, a.Dims[ka]; from < all; from += n {
		some := min(n, all-from)
		acc = k.Op(acc.Type, "tpu.matmul", attrs, k.along(a, ka, from, some), k.along(b, kb, from, some), acc)
	}
	return acc
}

// factor is e as it is multiplied by the other operand: both as bfloat16 where one is of codes.
func (k *kernel) factor(e *tile.Expr, other tile.Dtype) value {
	v, d := k.Expr(e), e.Dtype
	if isCode(d) || isCode(other) {
		v, d = k.Convert(v, d, tile.BFloat16), tile.BFloat16
	}
	return k.Vector(k.Narrow(v, d), shaped{Elem: stored[d], Dims: e.Shape})
}

// along is n elements of v along dim, beginning at from.
func (k *kernel) along(v value, dim, from, n int) value {
	if n == v.Dims[dim] {
		return v
	}
	offsets, sizes, strides := make([]int, len(v.Dims)), slices.Clone(v.Dims), slices.Repeat([]int{1}, len(v.Dims))
	offsets[dim], sizes[dim] = from, n
	return k.Op(shaped{Elem: v.Elem, Dims: sizes}, "vector.extract_strided_slice",
		fmt.Sprintf("offsets = [%s], sizes = [%s], strides = [%s]", mlir.Commas(offsets...), mlir.Commas(sizes...), mlir.Commas(strides...)), v)
}

func (k *kernel) toInt8(v value) value {
	if v.Elem == "i8" {
		return v
	}
	return k.Op(v.Of("i8"), "arith.extsi", "", v)
}

// dimensionNumbers says that a contracts over its dimension ka and b over kb;
// then which others there are, in what order they come out, and no batch.
func dimensionNumbers(ka, kb int) string {
	return fmt.Sprintf("[%d], [%d], [%d], [%d], [0, %d, 1, %d], [], []", ka, kb, 1-ka, 1-kb, 1-ka, 1-kb)
}

// zeroed is v with zero where edge pads it along dim.
func (k *kernel) zeroed(v value, dim int, edge tile.Edge) value {
	at := k.iota(dim, v.Dims)
	keep := k.Compare(at, tile.LT, k.Inside(edge.Ref, edge.Dim, edge.Offset))
	if edge.From > 0 {
		keep = k.Apply("arith.ori", keep, k.Compare(at, tile.LT, k.Int(edge.From)))
	}
	if edge.To < v.Dims[dim] {
		keep = k.Apply("arith.ori", keep, k.Compare(at, tile.GE, k.Int(edge.To)))
	}
	return k.Choose(keep, v, mlir.Number(v.Elem, 0))
}
