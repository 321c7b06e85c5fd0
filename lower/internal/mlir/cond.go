package mlir

import (
	"fmt"

	"matladder/tile"
)

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
