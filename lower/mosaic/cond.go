package mosaic

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
var integerPredicates = map[tile.Comparison]int{tile.EQ: 0, tile.NE: 1, tile.LT: 2, tile.LE: 3, tile.GT: 4, tile.GE: 5}

func predicate(p int) string { return fmt.Sprintf("predicate = %d : i64", p) }

// test compares two indices.
func (s *scope) test(x index, op tile.Comparison, y index) truth {
	if x.known && y.known {
		return truth{known: true, holds: op.Holds(float64(x.n), float64(y.n))}
	}
	p := predicate(integerPredicates[op])
	a, b := s.written(x), s.written(y)
	return truth{value: s.once(p+names([]value{a, b}), func() value { return s.op(bit, "arith.cmpi", p, a, b) })}
}

// cond writes a condition of a When.
func (s *scope) cond(c tile.Cond) truth {
	switch c := c.(type) {
	case tile.TestCond:
		return s.test(s.index(c.X), c.Op, s.index(c.Y))
	case tile.AllCond:
		return s.join(c, "arith.andi", false)
	case tile.AnyCond:
		return s.join(c, "arith.ori", true)
	case tile.NotCond:
		t := s.cond(c.Cond)
		if t.known {
			return truth{known: true, holds: !t.holds}
		}
		return truth{value: s.op(bit, "arith.xori", "", t.value, s.constant(bit, 1))}
	}
	s.refuse("when", "", fmt.Sprintf("no such condition: %s", c))
	return truth{known: true}
}

// join combines conditions; one whose answer is decisive settles it.
func (s *scope) join(parts []tile.Cond, op string, decisive bool) truth {
	all := truth{known: true, holds: !decisive}
	for _, part := range parts {
		t := s.cond(part)
		switch {
		case t.known && t.holds == decisive:
			return t
		case t.known:
		case all.known:
			all = t
		default:
			all = truth{value: s.op(bit, op, "", all.value, t.value)}
		}
	}
	return all
}
