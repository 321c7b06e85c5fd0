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
	case tile.Joined:
		switch a, b := w.Index(x.X), w.Index(x.Y); x.Op {
		case tile.Minimum:
			return w.extreme("arith.minsi", a, b, tile.AtMost)
		case tile.Maximum:
			return w.extreme("arith.maxsi", a, b, tile.AtLeast)
		default:
			return w.Sum(a, b)
		}
	case tile.Scaled:
		return w.scaled(x)
	case tile.Lookup:
		return w.Scope.Element(x.Table, w.Index(x.At))
	}
	w.Refuse("index", "", fmt.Sprintf("no such expression: %T", x))
	return w.Int(0)
}

// scaled writes a product, or a quotient or remainder rounded down.
func (w *Writer) scaled(x tile.Scaled) Value {
	v := w.Index(x.X)
	n, known := v.Int()
	switch {
	case x.Op == tile.Product:
		return w.Times(v, x.By)
	case known && x.Op == tile.Quotient:
		return w.folded(tile.FloorDiv(tile.Const(n), x.By))
	case known:
		return w.folded(tile.Mod(tile.Const(n), x.By))
	}
	by, positive := w.Int(x.By), tile.NeverNegative(x.X) // where truncating is rounding down
	switch {
	case x.Op == tile.Remainder && positive:
		return w.Scalar("arith.remsi", v, by)
	case x.Op == tile.Remainder:
		return w.modulo(v, by)
	case !positive: // a multiple of by, where it is too
		v = w.Scalar("arith.subi", v, w.modulo(v, by))
	}
	return w.Scalar("arith.divsi", v, by)
}

func (w *Writer) folded(x tile.IndexExpr) Value { return w.Int(int(x.(tile.Const))) }

// Scalar writes an i32 operation.
func (w *Writer) Scalar(op string, x, y Value) Value { return w.Pure(scalar, op, "", x, y) }

// extreme is the smaller or the larger of two; folded is that of constants.
func (w *Writer) extreme(op string, a, b Value, folded func(x, y tile.IndexExpr) tile.IndexExpr) Value {
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

var (
	Predicates = map[tile.Comparison]string{tile.EQ: "eq", tile.NE: "ne", tile.LT: "slt", tile.LE: "sle", tile.GT: "sgt", tile.GE: "sge"}
	// floatPredicates are false of NaN, but for NE, which is true.
	floatPredicates = map[tile.Comparison]string{tile.EQ: "oeq", tile.NE: "une", tile.LT: "olt", tile.LE: "ole", tile.GT: "ogt", tile.GE: "oge"}
)

// Cond writes a condition of a statement: an i1, which may be known.
func (w *Writer) Cond(c tile.Cond) Value {
	switch c := c.(type) {
	case tile.TestCond:
		x := w.Index(c.X)
		return w.Test(x, c.Op, w.Index(c.Y))
	case tile.AllCond:
		return w.join(c, "arith.andi", false)
	case tile.AnyCond:
		return w.join(c, "arith.ori", true)
	case tile.NotCond:
		return w.opposite(w.Cond(c.Cond))
	}
	w.Refuse("when", "", fmt.Sprintf("no such condition: %s", c))
	return w.known(Boolean(false))
}

// join combines conditions; one whose answer is decisive settles it.
func (w *Writer) join(parts []tile.Cond, op string, decisive bool) Value {
	all := w.known(Boolean(!decisive))
	none := true
	for _, part := range parts {
		t := w.Cond(part)
		x, known := t.Known()
		switch {
		case known && (x != 0) == decisive:
			return t
		case known:
		case none:
			all, none = t, false
		default:
			all = w.Logic(op, all, t)
		}
	}
	return all
}

func (w *Writer) opposite(t Value) Value {
	x, known := t.Known()
	switch {
	case known:
		return Boolean(x == 0)
	case w.Sharing == Apart:
		return w.Op(bit, "not", "", t)
	}
	return w.Logic("arith.xori", t, Boolean(true))
}

// Logic writes an operation on conditions that are not known.
func (w *Writer) Logic(op string, x, y Value) Value {
	if w.Sharing == Hoisted {
		return w.Pure(bit, op, "", x, y)
	}
	return w.Op(bit, op, "", x, y)
}

// Test compares two indices.
func (w *Writer) Test(x Value, op tile.Comparison, y Value) Value {
	m, one := x.Known()
	n, other := y.Known()
	if one && other {
		return Boolean(op.Holds(m, n))
	}
	return w.Pure(bit, "arith.cmpi", Predicates[op], x, y)
}
