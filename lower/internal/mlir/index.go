package mlir

import (
	"fmt"

	"matladder/tile"
)

// Index writes an index expression as arithmetic on i32 scalars.
func (w *Writer) Index(x tile.IndexExpr) Value {
	switch x := x.(type) {
	case tile.Const:
		return w.Int(int(x))
	case *tile.Axis:
		return w.Scope.ID(x)
	case tile.Sum:
		return w.Sum(w.Index(x.X), w.Index(x.Y))
	case tile.Product:
		return w.Times(w.Index(x.X), x.By)
	case tile.Quotient:
		v := w.Index(x.X)
		if n, known := v.Int(); known {
			return w.folded(tile.FloorDiv(tile.Const(n), x.By))
		}
		by := w.Int(x.By)
		if !tile.NeverNegative(x.X) { // a multiple of by, where truncating is rounding down
			v = w.Scalar("arith.subi", v, w.modulo(v, by))
		}
		return w.Scalar("arith.divsi", v, by)
	case tile.Remainder:
		v := w.Index(x.X)
		if n, known := v.Int(); known {
			return w.folded(tile.Mod(tile.Const(n), x.By))
		}
		by := w.Int(x.By)
		if tile.NeverNegative(x.X) {
			return w.Scalar("arith.remsi", v, by)
		}
		return w.modulo(v, by)
	case tile.Minimum:
		return w.extreme("arith.minsi", x.X, x.Y, tile.AtMost)
	case tile.Maximum:
		return w.extreme("arith.maxsi", x.X, x.Y, tile.AtLeast)
	case tile.Lookup:
		return w.Scope.Element(x.Table, w.Index(x.At))
	}
	w.Refuse("index", "", fmt.Sprintf("no such expression: %T", x))
	return w.Int(0)
}

func (w *Writer) folded(x tile.IndexExpr) Value { return w.Int(int(x.(tile.Const))) }

// Scalar writes an i32 operation.
func (w *Writer) Scalar(op string, x, y Value) Value { return w.Pure(scalar, op, "", x, y) }

// extreme is the smaller or the larger of two; folded is that of constants.
func (w *Writer) extreme(op string, x, y tile.IndexExpr, folded func(x, y tile.IndexExpr) tile.IndexExpr) Value {
	a, b := w.Index(x), w.Index(y)
	m, one := a.Int()
	n, other := b.Int()
	if one && other {
		return w.folded(folded(tile.Const(m), tile.Const(n)))
	}
	return w.Scalar(op, a, b)
}

// Sum is x + y.
func (w *Writer) Sum(x, y Value) Value {
	m, one := x.Int()
	n, other := y.Int()
	switch {
	case one && other:
		return w.Int(m + n)
	case x.Is(0):
		return y
	case y.Is(0):
		return x
	}
	return w.Scalar("arith.addi", x, y)
}

// Times is x · by.
func (w *Writer) Times(x Value, by int) Value {
	n, known := x.Int()
	switch {
	case known:
		return w.Int(n * by)
	case by == 0:
		return w.Int(0)
	case by == 1:
		return x
	}
	return w.Scalar("arith.muli", x, w.Int(by))
}

// modulo is x mod by, never negative; by > 0.
func (w *Writer) modulo(x, by Value) Value {
	return w.Scalar("arith.remsi", w.Scalar("arith.addi", w.Scalar("arith.remsi", x, by), by), by)
}

// Inside is how many elements of r's array lie between element offset of its block, along
// dimension dim, and the end; less than 1 if there is none.
func (w *Writer) Inside(r *tile.Ref, dim int, offset tile.IndexExpr) Value {
	d := r.ArrayDim(dim)
	start := w.Index(tile.Plus(tile.Times(r.Index[d], r.Step(d)), offset))
	if n, known := start.Int(); known {
		return w.Int(r.Array[d] - n)
	}
	return w.Scalar("arith.subi", w.Int(r.Array[d]), start)
}
