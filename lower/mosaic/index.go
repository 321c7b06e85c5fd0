package mosaic

import (
	"fmt"

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

// indices writes index expressions here.
func (s *scope) indices() mlir.Indices[index] {
	return mlir.Indices[index]{
		Known:  knownIndex,
		Number: func(x index) (int, bool) { return x.n, x.known },
		ID: func(a *tile.Axis) index {
			if a.Mesh {
				return s.coordinate(a)
			}
			return s.ids[a]
		},
		Lookup: func(table *tile.Ref, at index) index { return s.element(s.tables[table], at) },
		Op:     func(name string, x, y index) index { return s.scalar(name, x, y) },
		Refuse: func(reason string) { s.refuse("index", "", reason) },
	}
}

// index writes an index expression.
func (s *scope) index(x tile.IndexExpr) index { return s.indices().Write(x) }

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

// position is x as what memory is addressed by.
func (s *scope) position(x index) value {
	to := shaped{elem: "index"}
	if x.known {
		return s.constant(to, float64(x.n))
	}
	return s.once("position "+x.name, func() value { return s.op(to, "arith.index_cast", "", x.value) })
}
