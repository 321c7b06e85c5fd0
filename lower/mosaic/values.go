package mosaic

import (
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// values writes the expressions of statements in Mosaic's operations: package mlir decides
// which operations an expression takes, these functions how each is written.
func (k *kernel) values() mlir.Values[value] {
	return mlir.Values[value]{
		Known:    value.known,
		Constant: constant,
		Elem:     func(v value) string { return v.elem },
		Stored:   storage,
		Floats:   floatOps,
		Expr:     k.expr,
		Index:    func(x tile.IndexExpr) value { return k.number(k.index(x)) },
		Wide:     k.wide,
		Narrow:   k.narrow,
		Unary:    k.unary,
		Binary:   k.binary,
		Compare:  k.compare,
		Select:   k.selected,
		Cast:     k.converted,
		Even:     func(x value) value { return k.unary("math.roundeven", x) },
		Clamped: func(x value, lo, hi float64) value {
			return k.binary("arith.minimumf", k.binary("arith.maximumf", x, constant("f32", lo)), constant("f32", hi))
		},
		Inside: func(x tile.IndexExpr, e *tile.Expr) value { return k.number(k.inside(e.Ref, e.Dim, x)) },
		Any:    func(inside value) value { return k.test(index{value: inside}, tile.GT, knownIndex(0)).value },
		Below: func(dim int, shape []int, inside value) value {
			dims := physical(shape)
			return k.compare(k.iota(dim+len(dims)-len(shape), dims), tile.LT, inside)
		},
		Refuse: func(op, reason string) { k.refuse(op, "", reason) },
	}
}

// known is what a value is known to be while the text is written.
func (v value) known() (x float64, known bool) {
	if v.number == nil {
		return 0, false
	}
	return *v.number, true
}

func (k *kernel) choose(cond, x, y value) value { return k.values().Choose(cond, x, y) }

// inside is how many elements of r's array lie between element offset of its block, along
// dimension dim, and the end; less than 1 if there is none.
func (k *kernel) inside(r *tile.Ref, dim int, offset tile.IndexExpr) index {
	return k.indices().Inside(r, dim, offset)
}

// matched gives operands one type: that of the widest shape among them, or of a scalar if
// all are.
func (k *kernel) matched(args ...value) []value {
	lanes := false
	dims := mlir.Widest(mlir.Shapes(args, value.known, func(v value) []int {
		if v.lanes {
			lanes = true
			return []int{v.dims[0], 1}
		}
		return v.dims
	})...)
	if lanes = lanes && len(dims) == 2 && dims[1] == 1; lanes {
		dims = []int{dims[0], tileColumns}
	}
	out := make([]value, len(args))
	for i, v := range args {
		if out[i] = v; dims != nil || v.number != nil {
			out[i] = k.vector(v, shaped{v.elem, dims, lanes})
		}
	}
	return out
}

// selected is x where cond holds, else y.
func (k *kernel) selected(cond, x, y value) value {
	if cond.dims == nil {
		vs := k.matched(x, y)
		return k.op(vs[0].shaped, "arith.select", "", cond, vs[0], vs[1])
	}
	vs := k.matched(cond, x, y)
	return k.op(vs[1].shaped, "arith.select", "", vs...)
}

// converted is a value of another element type; the scalar unit has few conversions.
func (k *kernel) converted(op string, x value, elem string) value {
	if x.dims == nil {
		x = k.vector(x, shaped{elem: x.elem, dims: []int{1, 1}})
	}
	return k.op(x.of(elem), op, "", x)
}

// truths likewise writes conditions of statements.
func (s *scope) truths() mlir.Conds[truth] {
	return mlir.Conds[truth]{
		Known:  func(holds bool) truth { return truth{known: true, holds: holds} },
		Answer: func(t truth) (bool, bool) { return t.holds, t.known },
		Test: func(x tile.IndexExpr, op tile.Comparison, y tile.IndexExpr) truth {
			return s.test(s.index(x), op, s.index(y))
		},
		Op:     func(name string, x, y truth) truth { return truth{value: s.op(bit, name, "", x.value, y.value)} },
		Not:    func(t truth) truth { return truth{value: s.op(bit, "arith.xori", "", t.value, s.constant(bit, 1))} },
		Refuse: func(reason string) { s.refuse("when", "", reason) },
	}
}

// cond writes a condition of a When.
func (s *scope) cond(c tile.Cond) truth { return s.truths().Write(c) }
