package mlir

import (
	"fmt"

	"matladder/tile"
)

// Indices writes index expressions as arithmetic on i32 scalars. V is such a scalar: a
// value of the text, or a number where that is known while the text is written.
type Indices[V any] struct {
	Known  func(n int) V
	Number func(x V) (n int, known bool)
	ID     func(a *tile.Axis) V
	Lookup func(table *tile.Ref, at V) V
	Op     func(name string, x, y V) V // writes an operation
	Refuse func(reason string)
}

// Write writes an index expression.
func (w Indices[V]) Write(x tile.IndexExpr) V {
	v := w.fold(x)
	if n, known := w.Number(v); known && int(int32(n)) != n {
		w.Refuse(fmt.Sprintf("%d does not fit 32 bits", n))
		return w.Known(0)
	}
	return v
}

func (w Indices[V]) fold(x tile.IndexExpr) V {
	switch x := x.(type) {
	case tile.Const:
		return w.Known(int(x))
	case *tile.Axis:
		return w.ID(x)
	case tile.Sum:
		return w.Sum(w.Write(x.X), w.Write(x.Y))
	case tile.Product:
		return w.Times(w.Write(x.X), x.By)
	case tile.Quotient:
		v := w.Write(x.X)
		n, known := w.Number(v)
		switch {
		case known:
			return w.folded(tile.FloorDiv(tile.Const(n), x.By))
		case !tile.NeverNegative(x.X): // a multiple of by, where truncating is rounding down
			v = w.Op("arith.subi", v, w.modulo(v, x.By))
		}
		return w.Op("arith.divsi", v, w.Known(x.By))
	case tile.Remainder:
		v := w.Write(x.X)
		n, known := w.Number(v)
		switch {
		case known:
			return w.folded(tile.Mod(tile.Const(n), x.By))
		case tile.NeverNegative(x.X):
			return w.Op("arith.remsi", v, w.Known(x.By))
		}
		return w.modulo(v, x.By)
	case tile.Minimum:
		return w.extreme("arith.minsi", x.X, x.Y, tile.AtMost)
	case tile.Maximum:
		return w.extreme("arith.maxsi", x.X, x.Y, tile.AtLeast)
	case tile.Lookup:
		return w.Lookup(x.Table, w.Write(x.At))
	}
	w.Refuse(fmt.Sprintf("no such expression: %T", x))
	return w.Known(0)
}

func (w Indices[V]) folded(x tile.IndexExpr) V { return w.Known(int(x.(tile.Const))) }

// extreme is the smaller or the larger of two; folded is that of constants.
func (w Indices[V]) extreme(op string, x, y tile.IndexExpr, folded func(x, y tile.IndexExpr) tile.IndexExpr) V {
	a, b := w.Write(x), w.Write(y)
	m, one := w.Number(a)
	n, other := w.Number(b)
	if one && other {
		return w.folded(folded(tile.Const(m), tile.Const(n)))
	}
	return w.Op(op, a, b)
}

// Sum is x + y.
func (w Indices[V]) Sum(x, y V) V {
	m, one := w.Number(x)
	n, other := w.Number(y)
	switch {
	case one && other:
		return w.Known(m + n)
	case one && m == 0:
		return y
	case other && n == 0:
		return x
	}
	return w.Op("arith.addi", x, y)
}

// Times is x · by.
func (w Indices[V]) Times(x V, by int) V {
	n, known := w.Number(x)
	switch {
	case known:
		return w.Known(n * by)
	case by == 0:
		return w.Known(0)
	case by == 1:
		return x
	}
	return w.Op("arith.muli", x, w.Known(by))
}

// modulo is x mod by, never negative; by > 0.
func (w Indices[V]) modulo(x V, by int) V {
	n := w.Known(by)
	return w.Op("arith.remsi", w.Op("arith.addi", w.Op("arith.remsi", x, n), n), n)
}

// Inside is how many elements of r's array lie between element offset of its block, along
// dimension dim, and the end; less than 1 if there is none.
func (w Indices[V]) Inside(r *tile.Ref, dim int, offset tile.IndexExpr) V {
	d := r.ArrayDim(dim)
	start := w.Write(tile.Plus(tile.Times(r.Index[d], r.Step(d)), offset))
	if n, known := w.Number(start); known {
		return w.Known(r.Array[d] - n)
	}
	return w.Op("arith.subi", w.Known(r.Array[d]), start)
}
