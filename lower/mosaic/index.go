package mosaic

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

// scope is where index expressions are written: the body of a kernel, or an
// index map.
type scope struct {
	*text
	ids    map[*tile.Axis]index
	tables map[*tile.Ref]argument

	coordinates map[*tile.Axis]argument // of the device, along axes of the mesh
	refuse      func(op, ref, reason string)
}

// argument is a ref of the program as an argument of a function.
type argument struct {
	name string
	memory
}

// written is x as a value.
func (s *scope) written(x index) value {
	if x.known {
		return s.i32(x.n)
	}
	return x.value
}

// scalar writes an i32 operation.
func (s *scope) scalar(op string, args ...index) index {
	vs := make([]value, len(args))
	for i, a := range args {
		vs[i] = s.written(a)
	}
	v := s.once(op+" "+names(vs), func() value { return s.op(shaped{elem: "i32"}, op, "", vs...) })
	return index{value: v}
}

// index writes an index expression.
func (s *scope) index(x tile.IndexExpr) index {
	v := s.fold(x)
	if v.known && !int32Fits(v.n) {
		s.refuse("index", "", fmt.Sprintf("%d does not fit 32 bits", v.n))
		return knownIndex(0)
	}
	return v
}

func (s *scope) fold(x tile.IndexExpr) index {
	switch x := x.(type) {
	case tile.Const:
		return knownIndex(int(x))
	case *tile.Axis:
		if x.Mesh {
			return s.coordinate(x)
		}
		return s.ids[x]
	case tile.Sum:
		return s.sum(s.index(x.X), s.index(x.Y))
	case tile.Product:
		return s.times(s.index(x.X), x.By)
	case tile.Quotient:
		v := s.index(x.X)
		switch {
		case v.known:
			return knownIndex(int(tile.FloorDiv(tile.Const(v.n), x.By).(tile.Const)))
		case !tile.NeverNegative(x.X): // a multiple of by, where truncating is rounding down
			v = s.scalar("arith.subi", v, s.modulo(v, x.By))
		}
		return s.scalar("arith.divsi", v, knownIndex(x.By))
	case tile.Remainder:
		v := s.index(x.X)
		switch {
		case v.known:
			return knownIndex(int(tile.Mod(tile.Const(v.n), x.By).(tile.Const)))
		case tile.NeverNegative(x.X):
			return s.scalar("arith.remsi", v, knownIndex(x.By))
		}
		return s.modulo(v, x.By)
	case tile.Minimum:
		return s.extreme("arith.minsi", x.X, x.Y, tile.AtMost)
	case tile.Maximum:
		return s.extreme("arith.maxsi", x.X, x.Y, tile.AtLeast)
	case tile.Lookup:
		return s.element(s.tables[x.Table], s.index(x.At))
	}
	s.refuse("index", "", fmt.Sprintf("no such expression: %T", x))
	return knownIndex(0)
}

// element is one scalar in memory.
func (s *scope) element(table argument, i index) index {
	at := s.position(i)
	return index{value: s.once("load "+table.name+at.name, func() value {
		v := value{name: fmt.Sprintf("%%%d", s.next), shaped: shaped{elem: "i32"}}
		s.next++
		s.line("%s = %s", v.name, operation("memref.load", "", table.memory.String()+", index", "i32", value{name: table.name}, at))
		return v
	})}
}

// coordinate is that of the device along an axis of the mesh.
func (s *scope) coordinate(a *tile.Axis) index {
	if a.Size == 1 {
		return knownIndex(0)
	}
	return s.element(s.coordinates[a], knownIndex(0))
}

// extreme is the smaller or the larger of two; folded is that of constants.
func (s *scope) extreme(op string, x, y tile.IndexExpr, folded func(x, y tile.IndexExpr) tile.IndexExpr) index {
	a, b := s.index(x), s.index(y)
	if a.known && b.known {
		return knownIndex(int(folded(tile.Const(a.n), tile.Const(b.n)).(tile.Const)))
	}
	return s.scalar(op, a, b)
}

func (s *scope) sum(x, y index) index {
	switch {
	case x.known && y.known:
		return knownIndex(x.n + y.n)
	case x.known && x.n == 0:
		return y
	case y.known && y.n == 0:
		return x
	}
	return s.scalar("arith.addi", x, y)
}

func (s *scope) times(x index, by int) index {
	switch {
	case x.known:
		return knownIndex(x.n * by)
	case by == 0:
		return knownIndex(0)
	case by == 1:
		return x
	}
	return s.scalar("arith.muli", x, knownIndex(by))
}

// modulo is x mod by, never negative; by > 0.
func (s *scope) modulo(x index, by int) index {
	n := knownIndex(by)
	return s.scalar("arith.remsi", s.scalar("arith.addi", s.scalar("arith.remsi", x, n), n), n)
}

// position is x as what memory is addressed by.
func (s *scope) position(x index) value {
	to := shaped{elem: "index"}
	if x.known {
		return s.constant(to, float64(x.n))
	}
	return s.once("position "+x.name, func() value { return s.op(to, "arith.index_cast", "", x.value) })
}
