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

// unsignedLess is arith.cmpi's less than of unsigned integers.
const unsignedLess = 6

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
