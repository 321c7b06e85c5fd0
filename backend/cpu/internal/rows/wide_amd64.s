#include "textflag.h"
#include "affine_amd64.h"
#include "bfloat16_amd64.h"

// The high halves of the lanes of two registers.
DATA highs<>+0(SB)/8, $0x0007000500030001
DATA highs<>+8(SB)/8, $0x000f000d000b0009
DATA highs<>+16(SB)/8, $0x0017001500130011
DATA highs<>+24(SB)/8, $0x001f001d001b0019
DATA highs<>+32(SB)/8, $0x0027002500230021
DATA highs<>+40(SB)/8, $0x002f002d002b0029
DATA highs<>+48(SB)/8, $0x0037003500330031
DATA highs<>+56(SB)/8, $0x003f003d003b0039
GLOBL highs<>(SB), RODATA|NOPTR, $64

// func toBFloat16AVX512(dst *uint16, ldd int, x *float32, ldx, rows, n int)
TEXT ·toBFloat16AVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), R8
	MOVQ         ldd+8(FP), R10
	MOVQ         x+16(FP), R9
	MOVQ         ldx+24(FP), R11
	MOVQ         rows+32(FP), R12
	SHLQ         $1, R10
	SHLQ         $2, R11
	CONSTANTS_WIDE

row:
	MOVQ R8, DI
	MOVQ R9, SI
	MOVQ n+40(FP), CX

round:
	VMOVUPS (SI), Z0
	ROUNDS(Z0, Z2)
	VPSRLD  $16, Z2, Z2
	VPMOVDW Z2, (DI)
	ADDQ    $64, SI
	ADDQ    $32, DI
	SUBQ    $16, CX
	JNZ     round
	ADDQ    R10, R8
	ADDQ    R11, R9
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func scaleAVX512(dst *float32, ldd int, x *float32, ldx int, by float32, rows, n int)
TEXT ·scaleAVX512(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), R8
	MOVQ         ldd+8(FP), R10
	MOVQ         x+16(FP), R9
	MOVQ         ldx+24(FP), R11
	VBROADCASTSS by+32(FP), Z2
	MOVQ         rows+40(FP), R12
	SHLQ         $2, R10
	SHLQ         $2, R11

row:
	MOVQ R8, DI
	MOVQ R9, SI
	MOVQ n+48(FP), CX

scale:
	VMULPS  (SI), Z2, Z0
	VMOVUPS Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     scale
	ADDQ    R10, R8
	ADDQ    R11, R9
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func fromBFloat16AVX512(dst *float32, ldd int, x *uint16, ldx, rows, n int)
TEXT ·fromBFloat16AVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), R8
	MOVQ ldd+8(FP), R10
	MOVQ x+16(FP), R9
	MOVQ ldx+24(FP), R11
	MOVQ rows+32(FP), R12
	SHLQ $2, R10
	SHLQ $1, R11

row:
	MOVQ R8, DI
	MOVQ R9, SI
	MOVQ n+40(FP), CX

widen:
	VPMOVZXWD (SI), Z0
	VPSLLD    $16, Z0, Z0
	VMOVUPS   Z0, (DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       widen
	ADDQ      R10, R8
	ADDQ      R11, R9
	DECQ      R12
	JNZ       row
	VZEROUPPER
	RET

// func toBFloat16NonTemporalAVX512(dst *uint16, x *float32, n int)
TEXT ·toBFloat16NonTemporalAVX512(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	CONSTANTS_WIDE

past:
	VMOVUPS  (SI), Z0
	ROUNDS(Z0, Z2)
	VPSRLD   $16, Z2, Z2
	VPMOVDW  Z2, Y2
	VMOVNTDQ Y2, (DI)
	ADDQ     $64, SI
	ADDQ     $32, DI
	SUBQ     $16, CX
	JNZ      past
	VZEROUPPER
	RET

// Z12 is a and Z11 b; 32 elements at a time.
#define AFFINE_WIDE \
	VADDPS Z12, Z0, Z0    \
	VADDPS Z12, Z1, Z1    \
	VMULPS Z11, Z0, Z0    \
	VMULPS Z11, Z1, Z1    \
	VMULPS (DX), Z0, Z0   \
	VMULPS 64(DX), Z1, Z1 \
	VADDPS (BX), Z0, Z0   \
	VADDPS 64(BX), Z1, Z1

#define AFFINE_WIDE_FLOATS \
	VMOVUPS (SI), Z0   \
	VMOVUPS 64(SI), Z1 \
	AFFINE_WIDE

#define AFFINE_WIDE_BFLOATS \
	VPMOVZXWD (SI), Z0    \
	VPMOVZXWD 32(SI), Z1  \
	VPSLLD    $16, Z0, Z0 \
	VPSLLD    $16, Z1, Z1 \
	AFFINE_WIDE           \
	ROUNDS(Z0, Z2)        \
	ROUNDS(Z1, Z3)        \
	VPERMT2W  Z3, Z9, Z2

// func affineAVX512(dst, x *float32, a, b float32, w, c *float32, n int, past bool)
TEXT ·affineAVX512(SB), NOSPLIT, $0-49
	VBROADCASTSS a+16(FP), Z12
	VBROADCASTSS b+20(FP), Z11
	AFFINE_ARGUMENTS
	JNE          past

usual:
	AFFINE_WIDE_FLOATS
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	AFFINE_STEP(128, 32, usual)
	VZEROUPPER
	RET

past:
	AFFINE_WIDE_FLOATS
	VMOVNTPS Z0, (DI)
	VMOVNTPS Z1, 64(DI)
	AFFINE_STEP(128, 32, past)
	VZEROUPPER
	RET

// func affineBFloat16AVX512(dst, x *uint16, a, b float32, w, c *float32, n int, past bool)
TEXT ·affineBFloat16AVX512(SB), NOSPLIT, $0-49
	VBROADCASTSS a+16(FP), Z12
	VBROADCASTSS b+20(FP), Z11
	VMOVDQU64    highs<>(SB), Z9
	CONSTANTS_WIDE
	AFFINE_ARGUMENTS
	JNE          past

usual:
	AFFINE_WIDE_BFLOATS
	VMOVDQU64 Z2, (DI)
	AFFINE_STEP(64, 32, usual)
	VZEROUPPER
	RET

past:
	AFFINE_WIDE_BFLOATS
	VMOVNTDQ Z2, (DI)
	AFFINE_STEP(64, 32, past)
	VZEROUPPER
	RET
