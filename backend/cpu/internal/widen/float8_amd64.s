#include "textflag.h"

// A bfloat16 has the exponent and mantissa of a float8, without its sign c, at
// another place and of another bias:
//
//	c << (7 - mantissa) + (127 - bias) << 7
//
// The bias has no bits in the low byte, so that both bytes are made apart. Codes
// whose exponent is 0 are denormal here and normal there: looked up in a table.
// From top on they are infinity and NaN, whose exponent has all bits set.

#define CONSTANT(name, value) \
	DATA name<>+0(SB)/4, value          \
	GLOBL name<>(SB), RODATA|NOPTR, $4

CONSTANT(size, $0x7f7f7f7f)
CONSTANT(sign, $0x80808080)
CONSTANT(low3, $0xf0f0f0f0)  // of the low byte, where 3 bits of mantissa leave bits
CONSTANT(low2, $0xe0e0e0e0)  // 2 bits
CONSTANT(high3, $0x07070707) // of the high byte
CONSTANT(high2, $0x0f0f0f0f)
CONSTANT(bias3, $0x3c3c3c3c) // 127-7 in the high byte
CONSTANT(bias2, $0x38383838) // 127-15
CONSTANT(exponent3, $0x78787878)
CONSTANT(exponent2, $0x7c7c7c7c)
CONSTANT(finite3, $0x7e7e7e7e) // the last before top
CONSTANT(finite2, $0x7b7b7b7b)

// Low and high bytes of 0 … 7 times 2^-9, and of 0 … 3 times 2^-16.
DATA smallLow3<>+0(SB)/8, $0x60402000c0800000
DATA smallLow3<>+8(SB)/8, $0
GLOBL smallLow3<>(SB), RODATA|NOPTR, $16
DATA smallHigh3<>+0(SB)/8, $0x3c3c3c3c3b3b3b00
DATA smallHigh3<>+8(SB)/8, $0
GLOBL smallHigh3<>(SB), RODATA|NOPTR, $16
DATA smallLow2<>+0(SB)/8, $0x0000000040008000
DATA smallLow2<>+8(SB)/8, $0
GLOBL smallLow2<>(SB), RODATA|NOPTR, $16
DATA smallHigh2<>+0(SB)/8, $0x0000000038383700
DATA smallHigh2<>+8(SB)/8, $0
GLOBL smallHigh2<>(SB), RODATA|NOPTR, $16

// Each four quarters of a register in two.
DATA spread<>+0(SB)/8, $0
DATA spread<>+8(SB)/8, $4
DATA spread<>+16(SB)/8, $1
DATA spread<>+24(SB)/8, $5
DATA spread<>+32(SB)/8, $2
DATA spread<>+40(SB)/8, $6
DATA spread<>+48(SB)/8, $3
DATA spread<>+56(SB)/8, $7
GLOBL spread<>(SB), RODATA|NOPTR, $64

#define ARGUMENTS \
	MOVQ dst+0(FP), DI   \
	MOVQ src+8(FP), SI   \
	MOVQ n+16(FP), CX    \
	MOVQ ahead+24(FP), R8

#define CONSTANTS2(low, high, bias, exponent, finite, smallLow, smallHigh) \
	VPBROADCASTD   size<>(SB), Y15      \
	VPBROADCASTD   low<>(SB), Y14       \
	VPBROADCASTD   high<>(SB), Y13      \
	VPBROADCASTD   bias<>(SB), Y12      \
	VPBROADCASTD   exponent<>(SB), Y11  \
	VPBROADCASTD   finite<>(SB), Y10    \
	VBROADCASTI128 smallLow<>(SB), Y9   \
	VBROADCASTI128 smallHigh<>(SB), Y8

// CODES2 writes the bfloat16s of 32 codes; left and right are the shifts to the
// low and to the high byte.
#define CODES2(from, to, left, right) \
	VPERMQ     $0xd8, from(SI), Y0 \
	VPSLLW     left, Y0, Y1        \
	VPAND      Y14, Y1, Y1         \
	VPSRLW     right, Y0, Y2       \
	VPAND      Y13, Y2, Y2         \
	VPADDB     Y12, Y2, Y2         \
	VPAND      Y15, Y0, Y3         \
	VPXOR      Y4, Y4, Y4          \
	VPAND      Y11, Y0, Y5         \
	VPCMPEQB   Y4, Y5, Y5          \
	VPSHUFB    Y3, Y9, Y4          \
	VPBLENDVB  Y5, Y4, Y1, Y1      \
	VPSHUFB    Y3, Y8, Y4          \
	VPBLENDVB  Y5, Y4, Y2, Y2      \
	VPCMPGTB   Y10, Y3, Y4         \
	VPAND      Y15, Y4, Y4         \
	VPOR       Y4, Y2, Y2          \
	VPANDN     Y0, Y15, Y0         \
	VPOR       Y0, Y2, Y2          \
	VPUNPCKLBW Y2, Y1, Y3          \
	VPUNPCKHBW Y2, Y1, Y4          \
	VMOVDQU    Y3, to(DI)          \
	VMOVDQU    Y4, to+32(DI)

#define STEP(loop) \
	ADDQ $64, SI  \
	ADDQ $128, DI \
	SUBQ $64, CX  \
	JNZ  loop

// func float8E4M3AVX2(dst *uint16, src *byte, n, ahead int)
TEXT ·float8E4M3AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS
	CONSTANTS2(low3, high3, bias3, exponent3, finite3, smallLow3, smallHigh3)

e4m3:
	PREFETCHT0 (SI)(R8*1)
	CODES2(0, 0, $4, $4)
	CODES2(32, 64, $4, $4)
	STEP(e4m3)
	VZEROUPPER
	RET

// func float8E5M2AVX2(dst *uint16, src *byte, n, ahead int)
TEXT ·float8E5M2AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS
	CONSTANTS2(low2, high2, bias2, exponent2, finite2, smallLow2, smallHigh2)

e5m2:
	PREFETCHT0 (SI)(R8*1)
	CODES2(0, 0, $5, $3)
	CODES2(32, 64, $5, $3)
	STEP(e5m2)
	VZEROUPPER
	RET

#define CONSTANTS512(low, high, bias, exponent, finite, smallLow, smallHigh) \
	VPBROADCASTD    size<>(SB), Z15     \
	VPBROADCASTD    low<>(SB), Z14      \
	VPBROADCASTD    high<>(SB), Z13     \
	VPBROADCASTD    bias<>(SB), Z12     \
	VPBROADCASTD    exponent<>(SB), Z11 \
	VPBROADCASTD    finite<>(SB), Z10   \
	VBROADCASTI32X4 smallLow<>(SB), Z9  \
	VBROADCASTI32X4 smallHigh<>(SB), Z8 \
	VPBROADCASTD    sign<>(SB), Z7      \
	VMOVDQU64       spread<>(SB), Z6

// CODES512 is CODES2 for 64 codes.
#define CODES512(left, right) \
	VPERMQ     (SI), Z6, Z0         \
	VPSLLW     left, Z0, Z1         \
	VPANDD     Z14, Z1, Z1          \
	VPSRLW     right, Z0, Z2        \
	VPANDD     Z13, Z2, Z2          \
	VPADDB     Z12, Z2, Z2          \
	VPANDD     Z15, Z0, Z3          \
	VPTESTNMB  Z11, Z0, K1          \
	VPSHUFB    Z3, Z9, K1, Z1       \
	VPSHUFB    Z3, Z8, K1, Z2       \
	VPCMPGTB   Z10, Z3, K2          \
	VMOVDQU8   Z15, K2, Z2          \
	VPTERNLOGD $0xf8, Z7, Z0, Z2    \
	VPUNPCKLBW Z2, Z1, Z3           \
	VPUNPCKHBW Z2, Z1, Z4           \
	VMOVDQU64  Z3, (DI)             \
	VMOVDQU64  Z4, 64(DI)

// func float8E4M3AVX512(dst *uint16, src *byte, n, ahead int)
TEXT ·float8E4M3AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	CONSTANTS512(low3, high3, bias3, exponent3, finite3, smallLow3, smallHigh3)

e4m3:
	PREFETCHT0 (SI)(R8*1)
	CODES512($4, $4)
	STEP(e4m3)
	VZEROUPPER
	RET

// func float8E5M2AVX512(dst *uint16, src *byte, n, ahead int)
TEXT ·float8E5M2AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	CONSTANTS512(low2, high2, bias2, exponent2, finite2, smallLow2, smallHigh2)

e5m2:
	PREFETCHT0 (SI)(R8*1)
	CODES512($5, $3)
	STEP(e5m2)
	VZEROUPPER
	RET
