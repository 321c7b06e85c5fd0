package gemm

import "math"

var (
	asFloat32  = encoding[float32]{ku: 1, bits: math.Float32bits}
	asBFloat16 = encoding[uint16]{ku: 1, bits: func(v uint16) uint32 { return uint32(v) << 16 }}

	// Pairs of int16 for the instructions that multiply and add two of them.
	asPairs  = encoding[int8]{ku: 2, bits: func(v int8) uint32 { return uint32(int16(v)) }}
	asPairsU = encoding[uint8]{ku: 2, bits: func(v uint8) uint32 { return uint32(v) }}
)
