package triton

import (
	"fmt"

	"matladder/tile"
)

// truth is a condition: an i1, or an answer known while the text is written.
type truth struct {
	value
	known, holds bool
}

var bit = shaped{elem: "i1"}

// integerPredicates are those of arith.cmpi, on signed integers.
var integerPredicates = map[tile.Comparison]string{
	tile.EQ: "eq", tile.NE: "ne", tile.LT: "slt", tile.LE: "sle", tile.GT: "sgt", tile.GE: "sge",
}

// test compares two indices.
func (k *kernel) test(x index, op tile.Comparison, y index) truth {
	if x.known && y.known {
		return truth{known: true, holds: op.Holds(float64(x.n), float64(y.n))}
	}
	vs := []value{k.valueOf(x), k.valueOf(y)}
	return truth{value: k.pure(bit, vs, "arith.cmpi %s, %s : i32", integerPredicates[op], names(vs))}
}

// cond writes a condition of a When.
func (k *kernel) cond(c tile.Cond) truth {
	switch c := c.(type) {
	case tile.TestCond:
		return k.test(k.index(c.X), c.Op, k.index(c.Y))
	case tile.AllCond:
		return k.join(c, "arith.andi", false)
	case tile.AnyCond:
		return k.join(c, "arith.ori", true)
	case tile.NotCond:
		t := k.cond(c.Cond)
		if t.known {
			return truth{known: true, holds: !t.holds}
		}
		vs := []value{t.value, k.constant(bit, 1)}
		return truth{value: k.pure(bit, vs, "arith.xori %s : i1", names(vs))}
	}
	k.refuse("when", "", fmt.Sprintf("no such condition: %s", c))
	return truth{known: true}
}

// join combines conditions; one whose answer is decisive settles it.
func (k *kernel) join(parts []tile.Cond, op string, decisive bool) truth {
	all := truth{known: true, holds: !decisive}
	for _, part := range parts {
		t := k.cond(part)
		switch {
		case t.known && t.holds == decisive:
			return t
		case t.known:
		case all.known:
			all = t
		default:
			vs := []value{all.value, t.value}
			all = truth{value: k.pure(bit, vs, "%s %s : i1", op, names(vs))}
		}
	}
	return all
}
