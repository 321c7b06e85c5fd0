// Package bfloat16 has the bits of bfloat16, the upper half of a float32.
package bfloat16

import "math"

// Round is x rounded to nearest, ties to even; a NaN stays one.
func Round(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 1<<6
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// Widen is the value of b.
func Widen(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }
