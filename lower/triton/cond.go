package triton

import (
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
