package triton

import (
	"math"
	"math/bits"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// shaped is the type of a value: a tensor, or a scalar where dims is nil.
type shaped struct {
	elem string // of a pointer: "*" and the type of what it points to
	dims []int
}

func (t shaped) String() string {
	elem := t.elem
	if to, pointer := strings.CutPrefix(elem, "*"); pointer {
		elem = "!tt.ptr<" + to + ">"
	}
	if t.dims == nil {
		return elem
	}
	return "tensor<" + mlir.Cross(t.dims) + elem + ">"
}

func (t shaped) of(elem string) shaped { return shaped{elem, t.dims} }

func (t shaped) isFloat() bool { return mlir.IsFloat(t.elem) }

func (t shaped) isFloat8() bool { return strings.HasPrefix(t.elem, "f8") }

// storage spells dtypes as they are held: integers have no sign here, the
// operations do, and int4 has a byte once it is unpacked.
var storage = map[tile.Dtype]string{
	tile.Bool: "i1", tile.Float32: "f32", tile.BFloat16: "bf16", tile.Float8E4M3FN: "f8E4M3FN", tile.Float8E5M2: "f8E5M2",
	tile.Int32: "i32", tile.Int8: "i8", tile.Uint8: "i8", tile.Int4: "i8",
}

// physical is the shape in which a block of shape is computed: two dimensions at
// least, each 1 or a power of two of at least least elements.
func physical(shape []int, least int) []int {
	p := make([]int, 0, max(len(shape), 2))
	for range 2 - len(shape) {
		p = append(p, 1)
	}
	for _, n := range shape {
		p = append(p, padded(n, least))
	}
	return p
}

func padded(n, least int) int {
	if n <= 1 {
		return 1
	}
	return max(1<<bits.Len(uint(n-1)), least)
}

// int32Fits reports whether x is a value of i32, the type of indices.
func int32Fits(x int) bool { return x >= math.MinInt32 && x <= math.MaxInt32 }
