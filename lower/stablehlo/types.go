package stablehlo

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// tensor is a tensor type.
type tensor struct {
	elem string
	dims []int
}

func (t tensor) String() string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String() + t.elem + ">"
}

func (t tensor) equal(u tensor) bool { return t.elem == u.elem && slices.Equal(t.dims, u.dims) }

func (t tensor) of(elem string) tensor { return tensor{elem, t.dims} }

// isFloat reports whether the elements are of a float type, as the text spells
// them: f32, bf16, f8E5M2.
func (t tensor) isFloat() bool { return strings.HasPrefix(strings.TrimPrefix(t.elem, "b"), "f") }

var storage = map[tile.Dtype]string{
	tile.Bool: "i1", tile.Float32: "f32", tile.BFloat16: "bf16", tile.Float8E4M3FN: "f8E4M3FN", tile.Float8E5M2: "f8E5M2",
	tile.Int32: "i32", tile.Int8: "i8", tile.Uint8: "ui8", tile.Int4: "i4",
}

// stored is the type of an array of d as a plugin is given it.
func stored(d tile.Dtype, dims ...int) tensor { return tensor{storage[d], dims} }

// working is the type in which Interpret computes on d: f32 for all floats and
// i32 for all integers, whose values are those of d after rounded has been at
// them. No plugin has to know arithmetic in a narrower type, and none can keep
// more precision than the program asks for.
func working(d tile.Dtype, dims ...int) tensor {
	switch {
	case d.IsInteger():
		return tensor{"i32", dims}
	case d == tile.Bool:
		return tensor{"i1", dims}
	}
	return tensor{"f32", dims}
}

// number is x as the text spells a constant of type t.
func number(t tensor, x float64) string {
	switch {
	case t.elem == "i1":
		return strconv.FormatBool(x != 0)
	case !t.isFloat():
		return strconv.FormatInt(int64(x), 10)
	case t.elem == "f32" && (x != x || math.IsInf(x, 0)):
		return fmt.Sprintf("0x%08X", math.Float32bits(float32(x)))
	}
	s := strconv.FormatFloat(x, 'e', -1, 32)
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}

// int32Fits reports whether x is a value of i32, the type of all indices.
func int32Fits(x int) bool { return x >= math.MinInt32 && x <= math.MaxInt32 }
