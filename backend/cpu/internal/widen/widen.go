// Package widen turns numbers stored in 4, 8 or 16 bits into the dtypes that
// micro-kernels multiply, which hold each of them exactly.
//
//  1. Generic is the loops in Go, over tables: what each computes.
//  2. For(avx2, avx512) is the same with assembly where the machine has it; what
//     a row has beyond whole vectors goes to the Go loop. The results are equal
//     to the bit.
//
// Of NaN a code's sign and payload are kept.
package widen

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/internal/bfloat16"
	"matladder/internal/float16"
	"matladder/tile"
)

// Loops are the loops for one instruction set. Each writes element off+i of src to dst[i]. Two of 4
// bits lie in a byte, the first in the low nibble. While at it a loop asks for the memory that lies
// ahead bytes behind what it reads, which need not be src's.
type Loops struct {
	Int4ToInt8   func(dst []int8, src []byte, off, ahead int)
	Float4ToInt8 func(dst []int8, src []byte, off, ahead int) // twice the number of e2m1fn

	Float16 func(dst []float32, src []byte, off, ahead int)

	// The bits of bfloat16.
	Float4     func(dst []uint16, src []byte, off, ahead int) // e2m1fn
	Int4       func(dst []uint16, src []byte, off, ahead int)
	Int8       func(dst []uint16, src []byte, off, ahead int)
	Float8E4M3 func(dst []uint16, src []byte, off, ahead int) // e4m3fn: no infinity, one NaN
	Float8E5M2 func(dst []uint16, src []byte, off, ahead int)
	Float8E8M0 func(dst []uint16, src []byte, off, ahead int) // e8m0fnu: 2^-127 is denormal
}

// Generic is the loops in Go.
var Generic = Loops{
	Int4ToInt8:   nibbles(func(v int) int8 { return int8(v) }),
	Float4ToInt8: nibbles(func(v int) int8 { return int8(2 * tile.Float4E2M1FN.Value(byte(v&0xf))) }),
	Float16: func(dst []float32, src []byte, off, _ int) {
		for i, x := range memory.View[uint16](src)[off : off+len(dst)] {
			dst[i] = float16.Widen(x)
		}
	},
	Float4:     nibbles(func(v int) uint16 { return bfloat16.Round(float32(tile.Float4E2M1FN.Value(byte(v & 0xf)))) }),
	Int4:       nibbles(integer),
	Int8:       codes(func(c byte) uint16 { return integer(int(int8(c))) }),
	Float8E4M3: codes(func(c byte) uint16 { return float8(c, 3, 7, 0x7f) }),
	Float8E5M2: codes(func(c byte) uint16 { return float8(c, 2, 15, 0x7c) }),
	Float8E8M0: codes(func(c byte) uint16 {
		if c == 0 || c == 0xff {
			return uint16(c)<<7 | 0x40
		}
		return uint16(c) << 7
	}),
}

// integer is v as a bfloat16.
func integer(v int) uint16 { return uint16(math.Float32bits(float32(v)) >> 16) }

// float8 is a code of sign, exponent and mantissa as a bfloat16. Codes from top
// on, without their sign, are infinity and NaNs.
func float8(c byte, mantissa, bias int, top byte) uint16 {
	const mantissaOf, biasOf = 7, 127 // of bfloat16
	sign, c := uint16(c&0x80)<<8, c&0x7f
	bits := uint16(c) << (mantissaOf - mantissa)
	switch {
	case c >= top:
		return sign | bits | 0xff<<mantissaOf
	case c>>mantissa == 0: // denormal here, normal there
		small := math.Ldexp(float64(c), 1-bias-mantissa)
		return sign | uint16(math.Float32bits(float32(small))>>16)
	}
	return sign | bits + uint16(biasOf-bias)<<mantissaOf
}

func codes(value func(c byte) uint16) func(dst []uint16, src []byte, off, ahead int) {
	var table [256]uint16
	for c := range table {
		table[c] = value(byte(c))
	}
	return func(dst []uint16, src []byte, off, _ int) {
		src = src[off : off+len(dst)]
		for i := range dst {
			dst[i] = table[src[i]]
		}
	}
}

func nibbles[T int8 | uint16](value func(v int) T) func(dst []T, src []byte, off, ahead int) {
	var low, high [256]T // the two elements of a byte
	for c := range low {
		low[c], high[c] = value(int(int8(c<<4)>>4)), value(int(int8(c)>>4))
	}
	return func(dst []T, src []byte, off, _ int) {
		if off%2 != 0 && len(dst) > 0 {
			dst[0], dst, off = high[src[off/2]], dst[1:], off+1
		}
		src = src[off/2:]
		n := len(dst) / 2
		for i, c := range src[:n] {
			pair := dst[2*i : 2*i+2]
			pair[0], pair[1] = low[c], high[c]
		}
		if len(dst)%2 != 0 {
			dst[2*n] = low[src[n]]
		}
	}
}
