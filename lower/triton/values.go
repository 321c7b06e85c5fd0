package triton

import (
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// values writes the expressions of statements in Triton's operations: package mlir decides
// which operations an expression takes, these functions how each is written.
func (k *kernel) values() mlir.Values[value] {
	return mlir.Values[value]{
		Known:    value.known,
		Constant: constant,
		Elem:     func(v value) string { return v.elem },
		Stored:   storage,
		Floats:   floatOps,
		Expr:     k.expr,
		Index:    func(x tile.IndexExpr) value { return k.index(x).number() },
		Wide:     k.wide,
		Narrow:   k.narrow,
		Unary:    k.unary,
		Binary:   k.binary,
		Compare:  k.compare,
		Select:   k.selected,
		Cast:     k.converted,
		Even:     func(x value) value { return k.function(tile.OpRoundEven, x) },
		Clamped:  k.clampedTo,
		Inside:   func(x tile.IndexExpr, e *tile.Expr) value { return k.inside(e.Ref, e.Dim, x).number() },
		Any:      func(inside value) value { return k.test(index{value: inside}, tile.GT, knownIndex(0)).value },
		Below: func(dim int, shape []int, inside value) value {
			dims := physical(shape, k.least)
			n, known := inside.known()
			return k.below(dim+len(dims)-len(shape), dims, index{inside, known, int(n)})
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

// number is an index as a value that may still be repeated.
func (x index) number() value {
	if x.known {
		return integer(x.n)
	}
	return x.value
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
	dims := mlir.Widest(mlir.Shapes(args, value.known, func(v value) []int { return v.dims })...)
	out := make([]value, len(args))
	for i, v := range args {
		switch to := (shaped{v.elem, dims}); {
		case dims != nil:
			out[i] = k.vector(v, to)
		case v.number != nil:
			out[i] = k.number(*v.number, to)
		default:
			out[i] = v
		}
	}
	return out
}

// selected is x where cond holds, else y.
func (k *kernel) selected(cond, x, y value) value {
	if cond.dims == nil {
		vs := k.matched(x, y)
		return k.op(vs[0].shaped, "arith.select %s, %s : %s", cond.name, names(vs), vs[0].shaped)
	}
	vs := k.matched(cond, x, y)
	return k.op(vs[1].shaped, "arith.select %s : %s, %s", names(vs), vs[0].shaped, vs[1].shaped)
}

// converted is a value of another element type; conversions are of tensors.
func (k *kernel) converted(op string, x value, elem string) value {
	if x.dims == nil && op != "arith.extui" {
		x = k.vector(x, shaped{x.elem, []int{1, 1}})
	}
	return k.op(x.of(elem), op+" %s : %s to %s", x.name, x.shaped, x.of(elem))
}

// truths likewise writes conditions of statements.
func (k *kernel) truths() mlir.Conds[truth] {
	return mlir.Conds[truth]{
		Known:  func(holds bool) truth { return truth{known: true, holds: holds} },
		Answer: func(t truth) (bool, bool) { return t.holds, t.known },
		Test: func(x tile.IndexExpr, op tile.Comparison, y tile.IndexExpr) truth {
			return k.test(k.index(x), op, k.index(y))
		},
		Op: func(name string, x, y truth) truth {
			vs := []value{x.value, y.value}
			return truth{value: k.pure(bit, vs, "%s %s : i1", name, names(vs))}
		},
		Not: func(t truth) truth {
			vs := []value{t.value, k.constant(bit, 1)}
			return truth{value: k.pure(bit, vs, "arith.xori %s : i1", names(vs))}
		},
		Refuse: func(reason string) { k.refuse("when", "", reason) },
	}
}

// cond writes a condition of a When.
func (k *kernel) cond(c tile.Cond) truth { return k.truths().Write(c) }
