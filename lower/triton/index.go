package triton

import (
	"matladder/lower/internal/mlir"
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

// indices writes index expressions here.
func (k *kernel) indices() mlir.Indices[index] {
	return mlir.Indices[index]{
		Known:  knownIndex,
		Number: func(x index) (int, bool) { return x.n, x.known },
		ID:     func(a *tile.Axis) index { return k.ids[a] },
		Lookup: func(table *tile.Ref, at index) index { return index{value: k.lookup(table, at)} },
		Op:     k.scalar,
		Refuse: func(reason string) { k.refuse("index", "", reason) },
	}
}

// index writes an index expression.
func (k *kernel) index(x tile.IndexExpr) index { return k.indices().Write(x) }

// lookup reads a table, where the text is: an index of a table may be wrong in
// steps that do not use it.
func (k *kernel) lookup(table *tile.Ref, at index) value {
	arg, place := k.args[table], k.valueOf(at)
	to := shaped{elem: arg.elem}
	p := k.pure(to, []value{arg, place}, "tt.addptr %s : %s, i32", names([]value{arg, place}), to)
	return k.once(scalar, "tt.load %s : %s", p.name, to)
}
