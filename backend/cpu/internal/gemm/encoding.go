package gemm

import "math"

var (
	asFloat32  = encoding[float32]{ku: 1, bits: math.Float32bits}
	asBFloat16 = encoding[uint16]{ku: 1, bits: func(v uint16) uint32 { return uint32(v) << 16 }}

	// Pairs of bfloat16 for the instruction that multiplies and adds two of them.
	asPairsBFloat16 = encoding[uint16]{ku: 2, bits: func(v uint16) uint32 { return uint32(v) }}

	// Pairs of int16 for the instructions that multiply and add two of them.
	asPairs  = encoding[int8]{ku: 2, bits: func(v int8) uint32 { return uint32(int16(v)) }}
	asPairsU = encoding[uint8]{ku: 2, bits: func(v uint8) uint32 { return uint32(v) }}

	// Quads of bytes for VNNI, which multiplies unsigned by signed: b is stored
	// as b+128, and sums start from -128 times the sum of their row of a.
	asOffsetQuads = encoding[int8]{ku: 4, bits: func(v int8) uint32 { return uint32(uint8(v) ^ 0x80) }, zero: offsetQuads}
	asQuads       = encoding[int8]{ku: 4, bits: func(v int8) uint32 { return uint32(uint8(v)) }}
)

// offsetQuads is 128 in each byte of a word: what bytes of b are offset by.
const offsetQuads = 0x80808080
