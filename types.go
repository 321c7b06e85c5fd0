package matladder

import (
	"unsafe"

	"matladder/internal/bfloat16"
	"matladder/internal/float16"
	"matladder/tile"
)

// BFloat16 is the upper half of a float32.
type BFloat16 uint16

// ToBFloat16 rounds to nearest, ties to even; a NaN stays one.
func ToBFloat16(x float32) BFloat16 { return BFloat16(bfloat16.Round(x)) }

// Float32 is x, exactly.
func (x BFloat16) Float32() float32 { return bfloat16.Widen(uint16(x)) }

// Float16 is the 16-bit format of IEEE 754.
type Float16 uint16

// ToFloat16 rounds to nearest, ties to even: what is below 2^-14 to a multiple of 2^-24, what
// is too large to infinity. A NaN stays one, with as much of its payload as there is room for.
func ToFloat16(x float32) Float16 { return Float16(float16.Round(x)) }

// Float32 is x, exactly.
func (x Float16) Float32() float32 { return float16.Widen(uint16(x)) }

// Float8E4M3FN is the 8-bit format of OCP that has no infinity and numbers up to 448.
type Float8E4M3FN uint8

// ToFloat8E4M3FN rounds to nearest, ties to even; what is beyond 448 becomes NaN.
func ToFloat8E4M3FN(x float32) Float8E4M3FN { return Float8E4M3FN(tile.Float8E4M3FN.Code(float64(x))) }

// Float32 is x, exactly.
func (x Float8E4M3FN) Float32() float32 { return float32(tile.Float8E4M3FN.Value(byte(x))) }

// Float8E5M2 is the 8-bit format of OCP that has infinities and numbers up to 57344.
type Float8E5M2 uint8

// ToFloat8E5M2 rounds to nearest, ties to even; what is too large becomes infinite.
func ToFloat8E5M2(x float32) Float8E5M2 { return Float8E5M2(tile.Float8E5M2.Code(float64(x))) }

// Float32 is x, exactly.
func (x Float8E5M2) Float32() float32 { return float32(tile.Float8E5M2.Value(byte(x))) }

// Int4x2 is two numbers from -8 to 7, the first in the low four bits. A tensor of them has
// twice as many elements, or one less.
type Int4x2 uint8

// ToInt4x2 packs numbers by pairs; what is beyond -8 … 7 becomes the nearer of the two. An
// odd one out has a 0 beside it.
func ToInt4x2(numbers []int8) []Int4x2 {
	packed := make([]Int4x2, (len(numbers)+1)/2)
	for i, x := range numbers {
		packed[i/2] |= Int4x2(min(max(x, -8), 7)&0xF) << (i % 2 * 4)
	}
	return packed
}

// Int8s are the two numbers, the first first.
func (x Int4x2) Int8s() [2]int8 { return [2]int8{int8(x<<4) >> 4, int8(x) >> 4} }

// Narrow is a number type of fewer bits than float32.
type Narrow interface {
	BFloat16 | Float16 | Float8E4M3FN | Float8E5M2
	Float32() float32
}

// Float32s widens a slice.
func Float32s[T Narrow](xs []T) []float32 {
	wide := make([]float32, len(xs))
	for i, x := range xs {
		wide[i] = x.Float32()
	}
	return wide
}

// From rounds a slice with one of the functions above: From(xs, ToBFloat16).
func From[T Narrow](xs []float32, round func(float32) T) []T {
	narrow := make([]T, len(xs))
	for i, x := range xs {
		narrow[i] = round(x)
	}
	return narrow
}

// Element is what tensors are made of.
type Element interface {
	float32 | int32 | int8 | uint8 | BFloat16 | Float16 | Float8E4M3FN | Float8E5M2 | Int4x2
}

func dtypeOf[T Element]() tile.Dtype {
	var x T
	switch any(x).(type) {
	case float32:
		return tile.Float32
	case int32:
		return tile.Int32
	case int8:
		return tile.Int8
	case uint8:
		return tile.Uint8
	case BFloat16:
		return tile.BFloat16
	case Float16:
		return tile.Float16
	case Float8E4M3FN:
		return tile.Float8E4M3FN
	case Float8E5M2:
		return tile.Float8E5M2
	case Int4x2:
		return tile.Int4
	}
	return tile.InvalidDtype
}

// bytesOf is the memory of xs.
func bytesOf[T Element](xs []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(xs))), len(xs)*int(unsafe.Sizeof(x)))
}
