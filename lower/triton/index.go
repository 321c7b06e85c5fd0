package triton

import (
	"fmt"

	"matladder/tile"
)

// index is an i32 scalar: a number where it is known while the text is written.
type index struct {
	value
	known bool
	n     int
}

func knownIndex(n int) index { return index{known: true, n: n} }

var scalar = shaped{elem: "i32"}

// written is x as a value.
func (k *kernel) valueOf(x index) value {
	if x.known {
		return k.i32(x.n)
	}
	return x.value
}

// scalar writes an i32 operation.
func (k *kernel) scalar(op string, x, y index) index {
	vs := []value{k.valueOf(x), k.valueOf(y)}
	return index{value: k.pure(scalar, vs, "%s %s : i32", op, names(vs))}
}

// index writes an index expression.
func (k *kernel) index(x tile.IndexExpr) index {
	v := k.fold(x)
	if v.known && !int32Fits(v.n) {
		k.refuse("index", "", fmt.Sprintf("%d does not fit 32 bits", v.n))
		return knownIndex(0)
	}
	return v
}

func (k *kernel) fold(x tile.IndexExpr) index {
	switch x := x.(type) {
	case tile.Const:
		return knownIndex(int(x))
	case *tile.Axis:
		return k.ids[x]
	case tile.Sum:
		return k.sum(k.index(x.X), k.index(x.Y))
	case tile.Product:
		return k.times(k.index(x.X), x.By)
	case tile.Quotient:
		v := k.index(x.X)
		switch {
		case v.known:
			return knownIndex(int(tile.FloorDiv(tile.Const(v.n), x.By).(tile.Const)))
		case !tile.NeverNegative(x.X): // a multiple of by, where truncating is rounding down
			v = k.scalar("arith.subi", v, k.modulo(v, x.By))
		}
		return k.scalar("arith.divsi", v, knownIndex(x.By))
	case tile.Remainder:
		v := k.index(x.X)
		switch {
		case v.known:
			return knownIndex(int(tile.Mod(tile.Const(v.n), x.By).(tile.Const)))
		case tile.NeverNegative(x.X):
			return k.scalar("arith.remsi", v, knownIndex(x.By))
		}
		return k.modulo(v, x.By)
	case tile.Minimum:
		return k.extreme("arith.minsi", x.X, x.Y, tile.AtMost)
	case tile.Maximum:
		return k.extreme("arith.maxsi", x.X, x.Y, tile.AtLeast)
	case tile.Lookup:
		return index{value: k.lookup(x.Table, k.index(x.At))}
	}
	k.refuse("index", "", fmt.Sprintf("no such expression: %T", x))
	return knownIndex(0)
}

// lookup reads a table, where the text is: an index of a table may be wrong in
// steps that do not use it.
func (k *kernel) lookup(table *tile.Ref, at index) value {
	arg, place := k.args[table], k.valueOf(at)
	to := shaped{elem: arg.elem}
	p := k.pure(to, []value{arg, place}, "tt.addptr %s : %s, i32", names([]value{arg, place}), to)
	return k.once(scalar, "tt.load %s : %s", p.name, to)
}

// extreme is the smaller or the larger of two; folded is that of constants.
func (k *kernel) extreme(op string, x, y tile.IndexExpr, folded func(x, y tile.IndexExpr) tile.IndexExpr) index {
	a, b := k.index(x), k.index(y)
	if a.known && b.known {
		return knownIndex(int(folded(tile.Const(a.n), tile.Const(b.n)).(tile.Const)))
	}
	return k.scalar(op, a, b)
}

func (k *kernel) sum(x, y index) index {
	switch {
	case x.known && y.known:
		return knownIndex(x.n + y.n)
	case x.known && x.n == 0:
		return y
	case y.known && y.n == 0:
		return x
	}
	return k.scalar("arith.addi", x, y)
}

func (k *kernel) times(x index, by int) index {
	switch {
	case x.known:
		return knownIndex(x.n * by)
	case by == 0:
		return knownIndex(0)
	case by == 1:
		return x
	}
	return k.scalar("arith.muli", x, knownIndex(by))
}

// modulo is x mod by, never negative; by > 0.
func (k *kernel) modulo(x index, by int) index {
	n := knownIndex(by)
	return k.scalar("arith.remsi", k.scalar("arith.addi", k.scalar("arith.remsi", x, n), n), n)
}
