package epilogue

import (
	"math"

	"matladder/tile"
)

// toFloat8 returns what writes floats as codes of d, rounded to nearest even. A
// number beyond the largest becomes what Dtype.Round says.
func toFloat8(d tile.Dtype) func(o []uint8, x []float32) {
	mantissa := 3
	if d == tile.Float8E5M2 {
		mantissa = 2
	}
	bias := 1<<(6-mantissa) - 1 // 7 exponent and mantissa bits in all
	return func(o []uint8, x []float32) {
		for i := range o {
			o[i] = float8Code(d.Round(float64(x[i])), mantissa, bias)
		}
	}
}

// float8Code returns the code of v, a value of the format.
func float8Code(v float64, mantissa, bias int) uint8 {
	const sign, nan = 0x80, 0x7F
	var code uint8
	if math.Signbit(v) {
		code = sign
	}
	switch v = math.Abs(v); {
	case v != v:
		return code | nan
	case v == 0:
		return code
	case math.IsInf(v, 0):
		return code | uint8((1<<(7-mantissa)-1)<<mantissa)
	}
	fraction, exp := math.Frexp(v) // in [0.5, 1)
	exp += bias - 1
	if exp < 1 { // below the smallest normal number
		return code | uint8(math.Ldexp(fraction, exp+mantissa))
	}
	return code | uint8(exp<<mantissa) + uint8(math.Ldexp(2*fraction-1, mantissa))
}
