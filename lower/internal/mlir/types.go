package mlir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// Cross is 8x128x.
func Cross(dims []int) string {
	var b strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String()
}

// Working spells the type in which d is computed.
func Working(d tile.Dtype) string {
	switch {
	case d.IsInteger():
		return "i32"
	case d == tile.Bool:
		return "i1"
	}
	return "f32"
}

// IsFloat reports whether an element type is one of floats.
func IsFloat(elem string) bool { return strings.HasPrefix(strings.TrimPrefix(elem, "b"), "f") }

// Number is x as the text spells a constant of an element type.
func Number(elem string, x float64) string {
	switch {
	case elem == "i1":
		return strconv.FormatBool(x != 0)
	case !IsFloat(elem):
		return strconv.FormatInt(int64(x), 10)
	case x != x || math.IsInf(x, 0):
		bits := math.Float32bits(float32(x))
		if elem == "bf16" {
			return fmt.Sprintf("0x%04X", bits>>16)
		}
		return fmt.Sprintf("0x%08X", bits)
	}
	s := strconv.FormatFloat(x, 'e', -1, 32)
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

// Leading puts dimensions of size 1 before dims until there are rank.
func Leading(dims []int, rank int) []int {
	return append(slices.Repeat([]int{1}, max(0, rank-len(dims))), dims...)
}

// Widest is the shape to which blocks of some shapes are repeated; nil if all are scalars,
// which have none.
func Widest(shapes ...[]int) []int {
	var dims []int
	for _, shape := range shapes {
		if shape == nil {
			continue
		}
		dims = Leading(dims, len(shape))
		for d, n := range Leading(shape, len(dims)) {
			dims[d] = max(dims[d], n)
		}
	}
	return dims
}

// Shapes are the shapes of those values that have one: known numbers take any.
func Shapes[V any](vs []V, known func(V) (float64, bool), shape func(V) []int) [][]int {
	var list [][]int
	for _, v := range vs {
		if _, any := known(v); !any {
			list = append(list, shape(v))
		}
	}
	return list
}

// IsFinite reports whether x is neither infinite nor NaN.
func IsFinite(x float64) bool { return x-x == 0 }
