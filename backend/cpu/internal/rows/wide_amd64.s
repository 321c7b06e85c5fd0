#include "textflag.h"

// Constants of toBFloat16AVX512, one for each lane.
DATA rounding<>+0(SB)/4, $1
DATA rounding<>+4(SB)/4, $0x7fff
DATA rounding<>+8(SB)/4, $0x400000 // of a quiet NaN
GLOBL rounding<>(SB), RODATA|NOPTR, $12

// func toBFloat16AVX512(dst *uint16, ldd int, x *float32, ldx, rows, n int)
//
// (x + 0x7fff + bit 16 of x) >> 16, and (x | quiet) >> 16 for a NaN.
TEXT ·toBFloat16AVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), R8
	MOVQ         ldd+8(FP), R10
	MOVQ         x+16(FP), R9
	MOVQ         ldx+24(FP), R11
	MOVQ         rows+32(FP), R12
	SHLQ         $1, R10
	SHLQ         $2, R11
	VPBROADCASTD rounding<>+0(SB), Z13
	VPBROADCASTD rounding<>+4(SB), Z14
	VPBROADCASTD rounding<>+8(SB), Z15

row:
	MOVQ R8, DI
	MOVQ R9, SI
	MOVQ n+40(FP), CX

round:
	VMOVUPS (SI), Z0
	VPSRLD  $16, Z0, Z2
	VPANDD  Z13, Z2, Z2
	VPADDD  Z14, Z0, Z3
	VPADDD  Z3, Z2, Z2
	VCMPPS  $3, Z0, Z0, K1
	VPORD   Z15, Z0, K1, Z2
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

// func scaleAVX512(dst, x *float32, by float32, n int)
TEXT ·scaleAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS by+16(FP), Z2
	MOVQ         n+24(FP), CX

scale:
	VMULPS  (SI), Z2, Z0
	VMOVUPS Z0, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     scale
	VZEROUPPER
	RET
