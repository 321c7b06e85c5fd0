#include "textflag.h"

DATA nibble<>+0(SB)/4, $0x0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $4
DATA eight<>+0(SB)/4, $0x08080808
GLOBL eight<>(SB), RODATA|NOPTR, $4

// 0 … 7, -8 … -1 as bfloat16: their low bytes, their high bytes, and whole.
DATA low<>+0(SB)/8, $0xe0c0a08040008000
DATA low<>+8(SB)/8, $0x80004080a0c0e000
GLOBL low<>(SB), RODATA|NOPTR, $16
DATA high<>+0(SB)/8, $0x4040404040403f00
DATA high<>+8(SB)/8, $0xbfc0c0c0c0c0c0c1
GLOBL high<>(SB), RODATA|NOPTR, $16
DATA words<>+0(SB)/8, $0x404040003f800000
DATA words<>+8(SB)/8, $0x40e040c040a04080
DATA words<>+16(SB)/8, $0xc0a0c0c0c0e0c100
DATA words<>+24(SB)/8, $0xbf80c000c040c080
GLOBL words<>(SB), RODATA|NOPTR, $32

// The odd words of two registers.
DATA odd<>+0(SB)/8, $0x0007000500030001
DATA odd<>+8(SB)/8, $0x000f000d000b0009
DATA odd<>+16(SB)/8, $0x0017001500130011
DATA odd<>+24(SB)/8, $0x001f001d001b0019
DATA odd<>+32(SB)/8, $0x0027002500230021
DATA odd<>+40(SB)/8, $0x002f002d002b0029
DATA odd<>+48(SB)/8, $0x0037003500330031
DATA odd<>+56(SB)/8, $0x003f003d003b0039
GLOBL odd<>(SB), RODATA|NOPTR, $64

#define ARGUMENTS \
	MOVQ dst+0(FP), DI   \
	MOVQ src+8(FP), SI   \
	MOVQ n+16(FP), CX    \
	MOVQ ahead+24(FP), R8

// NIBBLES leaves the 32 nibbles of 16 bytes in the bytes of x, in order; t is lost.
#define NIBBLES(from, x, t) \
	VPMOVZXBW from, x   \
	VPSLLW    $4, x, t  \
	VPOR      t, x, x   \
	VPAND     Y15, x, x

// SIGNED makes numbers of nibbles: (x ^ 8) - 8.
#define SIGNED(x) \
	VPXOR  Y14, x, x \
	VPSUBB Y14, x, x

// func int4ToInt8AVX2(dst *int8, src *byte, n, ahead int)
TEXT ·int4ToInt8AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS
	VPBROADCASTD nibble<>(SB), Y15
	VPBROADCASTD eight<>(SB), Y14

int4ToInt8:
	PREFETCHT0 (SI)(R8*1)
	NIBBLES((SI), Y0, Y1)
	NIBBLES(16(SI), Y2, Y3)
	SIGNED(Y0)
	SIGNED(Y2)
	VMOVDQU    Y0, (DI)
	VMOVDQU    Y2, 32(DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	SUBQ       $64, CX
	JNZ        int4ToInt8
	VZEROUPPER
	RET

// LOOKUP writes the bfloat16s of 32 nibbles in x, each of two bytes looked up.
#define LOOKUP(x, to) \
	VPERMQ     $0xd8, x, x   \
	VPSHUFB    x, Y14, Y4    \
	VPSHUFB    x, Y13, Y5    \
	VPUNPCKLBW Y5, Y4, Y6    \
	VPUNPCKHBW Y5, Y4, Y7    \
	VMOVDQU    Y6, to(DI)    \
	VMOVDQU    Y7, to+32(DI)

// func int4AVX2(dst *uint16, src *byte, n, ahead int)
TEXT ·int4AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS
	VPBROADCASTD   nibble<>(SB), Y15
	VBROADCASTI128 low<>(SB), Y14
	VBROADCASTI128 high<>(SB), Y13

int4:
	PREFETCHT0 (SI)(R8*1)
	NIBBLES((SI), Y0, Y1)
	NIBBLES(16(SI), Y2, Y3)
	LOOKUP(Y0, 0)
	LOOKUP(Y2, 64)
	ADDQ       $32, SI
	ADDQ       $128, DI
	SUBQ       $64, CX
	JNZ        int4
	VZEROUPPER
	RET

// FLOATS writes the bfloat16s of 16 int8: the upper halves of their float32s.
#define FLOATS(from, to) \
	VPMOVSXBD from(SI), Y0   \
	VPMOVSXBD from+8(SI), Y1 \
	VCVTDQ2PS Y0, Y0         \
	VCVTDQ2PS Y1, Y1         \
	VPSRLD    $16, Y0, Y0    \
	VPSRLD    $16, Y1, Y1    \
	VPACKUSDW Y1, Y0, Y0     \
	VPERMQ    $0xd8, Y0, Y0  \
	VMOVDQU   Y0, to(DI)

// func int8AVX2(dst *uint16, src *byte, n, ahead int)
TEXT ·int8AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

int8:
	PREFETCHT0 (SI)(R8*1)
	FLOATS(0, 0)
	FLOATS(16, 32)
	FLOATS(32, 64)
	FLOATS(48, 96)
	ADDQ       $64, SI
	ADDQ       $128, DI
	SUBQ       $64, CX
	JNZ        int8
	VZEROUPPER
	RET

// func int4ToInt8AVX512(dst *int8, src *byte, n, ahead int)
TEXT ·int4ToInt8AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	VPBROADCASTD nibble<>(SB), Z15
	VPBROADCASTD eight<>(SB), Z14

int4ToInt8:
	PREFETCHT0 (SI)(R8*1)
	VPMOVZXBW  (SI), Z0
	VPSLLW     $4, Z0, Z1
	VPORD      Z1, Z0, Z0
	VPANDD     Z15, Z0, Z0
	VPXORD     Z14, Z0, Z0
	VPSUBB     Z14, Z0, Z0
	VMOVDQU32  Z0, (DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	SUBQ       $64, CX
	JNZ        int4ToInt8
	VZEROUPPER
	RET

// func int4AVX512(dst *uint16, src *byte, n, ahead int)
//
// A byte's nibbles become the numbers of two words of a table; of each word
// VPERMW looks at 5 bits, so that the table is there twice.
TEXT ·int4AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	VBROADCASTI64X4 words<>(SB), Z15

int4:
	PREFETCHT0 (SI)(R8*1)
	VPMOVZXBD  (SI), Z0
	VPMOVZXBD  16(SI), Z1
	VPSLLD     $12, Z0, Z2
	VPSLLD     $12, Z1, Z3
	VPORD      Z2, Z0, Z0
	VPORD      Z3, Z1, Z1
	VPERMW     Z15, Z0, Z0
	VPERMW     Z15, Z1, Z1
	VMOVDQU32  Z0, (DI)
	VMOVDQU32  Z1, 64(DI)
	ADDQ       $32, SI
	ADDQ       $128, DI
	SUBQ       $64, CX
	JNZ        int4
	VZEROUPPER
	RET

// func int8AVX512(dst *uint16, src *byte, n, ahead int)
TEXT ·int8AVX512(SB), NOSPLIT, $0-32
	ARGUMENTS
	VMOVDQU32 odd<>(SB), Z15

int8:
	PREFETCHT0 (SI)(R8*1)
	VPMOVSXBD  (SI), Z0
	VPMOVSXBD  16(SI), Z1
	VPMOVSXBD  32(SI), Z2
	VPMOVSXBD  48(SI), Z3
	VCVTDQ2PS  Z0, Z0
	VCVTDQ2PS  Z1, Z1
	VCVTDQ2PS  Z2, Z2
	VCVTDQ2PS  Z3, Z3
	VPERMT2W   Z1, Z15, Z0
	VPERMT2W   Z3, Z15, Z2
	VMOVDQU32  Z0, (DI)
	VMOVDQU32  Z2, 64(DI)
	ADDQ       $64, SI
	ADDQ       $128, DI
	SUBQ       $64, CX
	JNZ        int8
	VZEROUPPER
	RET
