package mosaic

import (
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// shaped is the type of a value: a vector, or a scalar where dims is nil.
type shaped struct {
	elem  string
	dims  []int
	lanes bool // a column of numbers, each in every lane (column.go)
}

func (t shaped) String() string {
	if t.dims == nil {
		return t.elem
	}
	return "vector<" + mlir.Cross(t.dims) + t.elem + ">"
}

func (t shaped) of(elem string) shaped { return shaped{elem, t.dims, t.lanes} }

func (t shaped) isFloat() bool { return mlir.IsFloat(t.elem) }

// memory is the type of a ref in the text.
type memory struct {
	shaped
	space string // vmem, or smem for a table
}

func (m memory) String() string {
	return fmt.Sprintf("memref<%s%s, #tpu.memory_space<%s>>", mlir.Cross(m.dims), m.elem, m.space)
}

// storage spells dtypes in memory. Integers have no sign here: the operations do.
var storage = map[tile.Dtype]string{
	tile.Bool: "i1", tile.Float32: "f32", tile.BFloat16: "bf16", tile.Float8E4M3FN: "f8E4M3FN", tile.Float8E5M2: "f8E5M2",
	tile.Int32: "i32", tile.Int8: "i8", tile.Uint8: "i8", tile.Int4: "i4",
}

// physical is the shape in which a block of shape is computed: a TPU register
// has two dimensions, so that a row is a matrix of one row.
func physical(shape []int) []int {
	p := slices.Clone(shape)
	for len(p) < 2 {
		p = append([]int{1}, p...)
	}
	return p
}

// commas is 1, 2.
func commas(xs []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(xs), "[]"), " ", ", ")
}
