package pack

import "math"

// A Source is the element type of an operand in memory; uint16 holds bfloat16.
type Source interface {
	float32 | uint16 | int8 | uint8
}

// An Encoding turns one element into the low 32/KU bits of a word; Zero is
// the word of elements that are all zero.
type Encoding[S Source] struct {
	KU   int
	Bits func(S) uint32
	Zero uint32
}

var (
	AsFloat32  = Encoding[float32]{KU: 1, Bits: math.Float32bits}
	AsBFloat16 = Encoding[uint16]{KU: 1, Bits: func(v uint16) uint32 { return uint32(v) << 16 }}

	// Pairs of bfloat16 for the instruction that multiplies and adds two of them.
	AsPairsBFloat16 = Encoding[uint16]{KU: 2, Bits: func(v uint16) uint32 { return uint32(v) }}

	// Pairs of int16 for the instructions that multiply and add two of them.
	AsPairs  = Encoding[int8]{KU: 2, Bits: func(v int8) uint32 { return uint32(int16(v)) }}
	AsPairsU = Encoding[uint8]{KU: 2, Bits: func(v uint8) uint32 { return uint32(v) }}

	// Quads of bytes for VNNI, which multiplies unsigned by signed: b is stored
	// as b+128, and sums start from -128 times the sum of their row of a.
	AsOffsetQuads = Encoding[int8]{KU: 4, Bits: func(v int8) uint32 { return uint32(uint8(v) ^ 0x80) }, Zero: OffsetQuads}
	AsQuads       = Encoding[int8]{KU: 4, Bits: func(v int8) uint32 { return uint32(uint8(v)) }}
)

// OffsetQuads is 128 in each byte of a word: what bytes of b are offset by.
const OffsetQuads = 0x80808080
