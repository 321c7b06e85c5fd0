package mosaic

import (
	"fmt"
	"slices"

	"matladder/tile"
)

// number is an index as a value that may still be broadcast.
func (k *kernel) number(x index) value {
	if x.known {
		return integer(x.n)
	}
	return x.value
}

// noPadding is whether no Dot of e contracts over padding in this program.
func (k *kernel) noPadding(e *tile.Expr) truth {
	full := truth{known: true, holds: true}
	tile.WalkExpr(e, func(x *tile.Expr) {
		if x.Op != tile.OpDot || full.known && !full.holds {
			return
		}
		for _, edge := range k.overhangs.Contraction(x) {
			t := k.test(k.inside(edge.Ref, edge.Dim, edge.Offset), tile.GE, knownIndex(edge.To))
			switch {
			case t.known && t.holds:
			case t.known || full.known:
				full = t
			default:
				full = truth{value: k.op(bit, "arith.andi", "", full.value, t.value)}
			}
			if full.known && !full.holds {
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
		k.refuse("dot", "", "no matrix unit multiplies uint8: cast it to bfloat16, which holds every value")
		return acc
	}
	a := k.vector(k.narrow(k.expr(x), x.Dtype), shaped{elem: storage[x.Dtype], dims: x.Shape})
	b := k.vector(k.narrow(k.expr(y), y.Dtype), shaped{elem: storage[y.Dtype], dims: y.Shape})
	if x.Dtype.IsInteger() && x.Dtype != y.Dtype { // int8 and int4
		a, b = k.toInt8(a), k.toInt8(b)
	}
	ka, kb := 1, 0
	if e.TransA {
		ka = 0
	}
	if e.TransB {
		kb = 1
	}
	if k.masking {
		for _, edge := range k.overhangs.Contraction(e) {
			if !edge.Plain() {
				k.refuse("dot", edge.Ref.Name, "where its padding ends is not known")
				return acc
			}
			// A product with integer 0 is 0 whatever the other is; with NaN it is NaN.
			if both := e.Dtype.IsFloat(); both || a.dims[1-ka] <= b.dims[1-kb] {
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
	n := a.dims[ka]
	if k.pieces > 0 && a.elem == "i8" && b.elem == "i8" && tile.Elements(e.Shape) <= large {
		n = k.pieces
	}
	for from, all := 0, a.dims[ka]; from < all; from += n {
		some := min(n, all-from)
		acc = k.op(acc.shaped, "tpu.matmul", attrs, k.along(a, ka, from, some), k.along(b, kb, from, some), acc)
	}
	return acc
}

// along is n elements of v along dim, beginning at from.
func (k *kernel) along(v value, dim, from, n int) value {
	if n == v.dims[dim] {
		return v
	}
	offsets, sizes, strides := make([]int, len(v.dims)), slices.Clone(v.dims), slices.Repeat([]int{1}, len(v.dims))
	offsets[dim], sizes[dim] = from, n
	return k.op(shaped{elem: v.elem, dims: sizes}, "vector.extract_strided_slice",
		fmt.Sprintf("offsets = [%s], sizes = [%s], strides = [%s]", commas(offsets), commas(sizes), commas(strides)), v)
}

func (k *kernel) toInt8(v value) value {
	if v.elem == "i8" {
		return v
	}
	return k.op(v.of("i8"), "arith.extsi", "", v)
}

// dimensionNumbers says that a contracts over its dimension ka and b over kb;
// then which others there are, in what order they come out, and no batch.
func dimensionNumbers(ka, kb int) string {
	list := func(xs ...int) string { return "[" + commas(xs) + "]" }
	return list(ka) + ", " + list(kb) + ", " + list(1-ka) + ", " + list(1-kb) + ", " + list(0, 1-ka, 1, 1-kb) + ", [], []"
}

// zeroed is v with zero where edge pads it along dim.
func (k *kernel) zeroed(v value, dim int, edge tile.Edge) value {
	at := k.iota(dim, v.dims)
	keep := k.compare(at, tile.LT, k.number(k.inside(edge.Ref, edge.Dim, edge.Offset)))
	if edge.From > 0 {
		keep = k.binary("arith.ori", keep, k.compare(at, tile.LT, integer(edge.From)))
	}
	if edge.To < v.dims[dim] {
		keep = k.binary("arith.ori", keep, k.compare(at, tile.GE, integer(edge.To)))
	}
	return k.choose(keep, v, constant(v.elem, 0))
}
