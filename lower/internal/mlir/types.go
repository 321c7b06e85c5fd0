package mlir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// Type is the type of a value: one of Elem where Dims is nil. How it is spelled a dialect says.
type Type struct {
	Elem  string
	Dims  []int
	Space string // where it lies, of a part of memory
	Lanes int    // of a column whose numbers are each in that many lanes; else 0
}

// Of is t with other elements.
func (t Type) Of(elem string) Type {
	t.Elem = elem
	return t
}

// Equal reports whether t and u are spelled alike.
func (t Type) Equal(u Type) bool { return t.Elem == u.Elem && slices.Equal(t.Dims, u.Dims) }

// IsFloat reports whether the elements of a type are floats.
func (t Type) IsFloat() bool { return IsFloat(t.Elem) }

var (
	scalar = Type{Elem: "i32"}
	bit    = Type{Elem: "i1"}
)

// Stored spells dtypes as they are held. Integers have no sign: operations do.
var Stored = map[tile.Dtype]string{
	tile.Bool: "i1", tile.Float32: "f32", tile.BFloat16: "bf16", tile.Float8E4M3FN: "f8E4M3FN", tile.Float8E5M2: "f8E5M2",
	tile.Float16: "f16", tile.Float4E2M1FN: "f4E2M1FN", tile.Float8E8M0FNU: "f8E8M0FNU",
	tile.Int32: "i32", tile.Int8: "i8", tile.Uint8: "i8", tile.Int4: "i4",
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

// Cross is 8x128x.
func Cross(dims []int) string {
	var b strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String()
}

// Commas is 1, 2.
func Commas(xs ...int) string { return List(xs, strconv.Itoa) }

// List writes what text says of each of some values, with commas.
func List[V any](vs []V, text func(V) string) string { return strings.Join(each.Of(vs, text), ", ") }

// Symbol turns a name into one that a module, function or value may have.
func Symbol(name string) string {
	s := []byte(name)
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			s[i] = '_'
		}
	}
	if len(s) == 0 {
		return "_"
	}
	return string(s)
}

// Escaped is text inside a string.
func Escaped(text string) string {
	return strings.NewReplacer(`\`, `\5C`, `"`, `\22`, "\n", `\0A`).Replace(text)
}

// literal is x as the text spells a constant of an element type.
func literal(elem string, x float64) string {
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

// spells reports whether an element type has a spelling of x: floats of 8 bits have none of
// infinity in common.
func spells(elem string, x float64) bool { return x-x == 0 || !strings.HasPrefix(elem, "f8") }

// Physical is a shape of two dimensions at least: a row is a matrix of one row.
func Physical(shape []int) []int { return Leading(shape, 2) }

// Leading puts dimensions of size 1 before dims until there are rank.
func Leading(dims []int, rank int) []int {
	return append(slices.Repeat([]int{1}, max(0, rank-len(dims))), dims...)
}

// Kernels hold float4_e2m1fn and float8_e8m0fnu as integers of their bits, which few compilers
// take for numbers.

// Codes is Stored with those as integers, float4_e2m1fn in elements of a type that keeps its sign.
func Codes(float4 string) map[tile.Dtype]string {
	m := map[tile.Dtype]string{tile.Float4E2M1FN: float4, tile.Float8E8M0FNU: "i8"}
	for d, elem := range Stored {
		if _, is := m[d]; !is {
			m[d] = elem
		}
	}
	return m
}

// IsCode reports whether elements of a type are codes of d.
func IsCode(d tile.Dtype, elem string) bool {
	return (d == tile.Float4E2M1FN || d == tile.Float8E8M0FNU) && !IsFloat(elem)
}

// magnitudes are the sizes of float4_e2m1fn, doubled, in four bits each: 0, 1, 2, 3, 4, 6, 8, 12.
const magnitudes = math.MinInt32 | 0x48643210

// decoded is the f32 of codes of d.
func (w *Exprs) decoded(v Value, d tile.Dtype) Value {
	if d == tile.Float4E2M1FN {
		n := w.Once(v.Of("i32"), "arith.extsi", "", v)
		at := w.Apply("arith.andi", w.Apply("arith.shli", n, w.Int(2)), w.Int(28))
		twice := w.Apply("arith.andi", w.Apply("arith.shrsi", w.Int(magnitudes), at), w.Int(15))
		half := w.Choose(w.Compare(n, tile.LT, w.Int(0)), Number("f32", -0.5), Number("f32", 0.5))
		return w.Apply("arith.mulf", w.cast("arith.sitofp", twice, "f32"), half)
	}
	n := w.Once(v.Of("i32"), "arith.extui", "", v)
	bits := w.Apply("arith.maxsi", w.Apply("arith.shli", n, w.Int(23)), w.Int(1<<22)) // 2^-127 is not normal
	return w.Choose(w.Compare(n, tile.EQ, w.Int(255)), Number("f32", math.NaN()), w.cast("arith.bitcast", bits, "f32"))
}

// encoded is the codes of d nearest to f32 numbers: ties to even of float4_e2m1fn, which
// saturates, and up of float8_e8m0fnu.
func (w *Exprs) encoded(v Value, d tile.Dtype, elem string) Value {
	bits := w.cast("arith.bitcast", v, "i32")
	n := w.Int(0)
	if d == tile.Float4E2M1FN {
		size := w.Apply("math.absf", v)
		for i, least := range []float64{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5} {
			n = w.Apply("arith.addi", n, w.FromBool(w.Compare(size, []tile.Comparison{tile.GT, tile.GE}[i%2], Number("f32", least))))
		}
		n = w.Choose(w.Compare(bits, tile.LT, w.Int(0)), w.Apply("arith.subi", n, w.Int(8)), n)
	} else {
		n = w.Apply("arith.shrsi", w.Apply("arith.addi", bits, w.Int(1<<22)), w.Int(23))
		has := w.Apply("arith.andi", w.Compare(v, tile.GT, Number("f32", 0)), w.Compare(v, tile.LT, Number("f32", 0x1.8p127)))
		n = w.Choose(has, n, w.Int(255))
	}
	return w.Once(n.Of(elem), "arith.trunci", "", n)
}

// code is the number that an element type of codes of d has for x.
func code(d tile.Dtype, x float64) float64 {
	if d == tile.Float4E2M1FN {
		return float64(int8(d.Code(x)<<4) >> 4)
	}
	return float64(int8(d.Code(x)))
}
