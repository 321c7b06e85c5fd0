package stablehlo

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// scalar is an i32 constant of rank 0.
func (t *text) scalar(x int) value { return t.constant(tensor{elem: "i32"}, float64(x)) }

// product is x·by.
func (t *text) product(x value, by int) value {
	if by == 1 {
		return x
	}
	return t.op("multiply", x, t.scalar(by))
}

// indexOf is the i32 value of an index expression.
func (g *grid) indexOf(x tile.IndexExpr) value {
	switch x := x.(type) {
	case tile.Const:
		if !int32Fits(int(x)) {
			g.refuse("index", "", fmt.Sprintf("%d does not fit 32 bits", int(x)))
			return g.scalar(0)
		}
		return g.scalar(int(x))
	case *tile.Axis:
		return g.id(x)
	case tile.Sum:
		return g.op("add", g.indexOf(x.X), g.indexOf(x.Y))
	case tile.Product:
		return g.product(g.indexOf(x.X), x.By)
	case tile.Quotient:
		v, by := g.indexOf(x.X), g.scalar(x.By)
		if !tile.NeverNegative(x.X) {
			v = g.op("subtract", v, g.modulo(v, by)) // a multiple of by, where truncating is rounding down
		}
		return g.op("divide", v, by)
	case tile.Remainder:
		v, by := g.indexOf(x.X), g.scalar(x.By)
		if tile.NeverNegative(x.X) {
			return g.op("remainder", v, by)
		}
		return g.modulo(v, by)
	case tile.Minimum:
		return g.op("minimum", g.indexOf(x.X), g.indexOf(x.Y))
	case tile.Maximum:
		return g.op("maximum", g.indexOf(x.X), g.indexOf(x.Y))
	case tile.Lookup:
		at := g.dynamicSlice(g.block(x.Table), []value{g.indexOf(x.At)}, []int{1})
		return g.reshape(at, nil)
	}
	g.refuse("index", "", fmt.Sprintf("no such expression: %T", x))
	return g.scalar(0)
}

// modulo is v mod by, never negative; by > 0.
func (t *text) modulo(v, by value) value {
	return t.op("remainder", t.op("add", t.op("remainder", v, by), by), by)
}

var comparisons = map[tile.Comparison]string{tile.EQ: "EQ", tile.NE: "NE", tile.LT: "LT", tile.LE: "LE", tile.GT: "GT", tile.GE: "GE"}

// cond is the i1 value of a condition.
func (g *grid) cond(c tile.Cond) value {
	truth := tensor{elem: "i1"}
	all := func(parts []tile.Cond, op string, empty float64) value {
		v := g.constant(truth, empty)
		for i, part := range parts {
			if w := g.cond(part); i == 0 {
				v = w
			} else {
				v = g.op(op, v, w)
			}
		}
		return v
	}
	switch c := c.(type) {
	case tile.TestCond:
		return g.compare(comparisons[c.Op], g.indexOf(c.X), g.indexOf(c.Y))
	case tile.AllCond:
		return all(c, "and", 1)
	case tile.AnyCond:
		return all(c, "or", 0)
	case tile.NotCond:
		return g.op("not", g.cond(c.Cond))
	}
	g.refuse("when", "", fmt.Sprintf("no such condition: %s", strings.TrimSpace(fmt.Sprint(c))))
	return g.constant(truth, 0)
}
