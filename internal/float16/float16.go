// Package float16 has the bits of the 16-bit format of IEEE 754.
package float16

import "math"

// Round is x rounded to nearest, ties to even: what is below 2^-14 to a multiple of 2^-24, what
// is too large to infinity. A NaN stays one, with as much of its payload as there is room for.
func Round(x float32) uint16 {
	const (
		rebias  = (127 - 15) << 23 // between the exponents of the two formats
		least   = 113 << 23        // 2^-14, the least number that is not subnormal
		most    = 0x477FFFFF       // the last one below 2^16
		spacing = 0.5              // float32 numbers from here on lie 2^-24 apart
	)
	bits := math.Float32bits(x)
	sign, size := uint16(bits>>16&0x8000), bits&^(1<<31)
	switch {
	case x != x:
		return sign | 0x7C00 | uint16(max(1, size>>13&0x3FF))
	case size > most:
		return sign | 0x7C00
	case size < least:
		return sign | uint16(math.Float32bits(math.Float32frombits(size)+spacing)-math.Float32bits(spacing))
	}
	size -= rebias
	return sign | uint16((size+0xFFF+size>>13&1)>>13)
}

// Widen is the value of b.
func Widen(b uint16) float32 {
	sign, size := uint32(b&0x8000)<<16, uint32(b&0x7FFF)
	switch {
	case size >= 0x7C00:
		return math.Float32frombits(sign | 0x7F800000 | size&0x3FF<<13)
	case size < 0x400: // subnormal
		return math.Float32frombits(sign | math.Float32bits(float32(size)/(1<<24)))
	}
	return math.Float32frombits(sign | (size<<13 + (127-15)<<23))
}
