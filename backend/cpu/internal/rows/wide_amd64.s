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

// func fromBFloat16AVX512(dst *float32, x *uint16, n int)
TEXT ·fromBFloat16AVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX

widen:
	VPMOVZXWD (SI), Z0
	VPSLLD    $16, Z0, Z0
	VMOVUPS   Z0, (DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       widen
	VZEROUPPER
	RET

// func toBFloat16NonTemporalAVX512(dst *uint16, x *float32, n int)
TEXT ·toBFloat16NonTemporalAVX512(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTD rounding<>+0(SB), Z13
	VPBROADCASTD rounding<>+4(SB), Z14
	VPBROADCASTD rounding<>+8(SB), Z15

past:
	VMOVUPS  (SI), Z0
	VPSRLD   $16, Z0, Z2
	VPANDD   Z13, Z2, Z2
	VPADDD   Z14, Z0, Z3
	VPADDD   Z3, Z2, Z2
	VCMPPS   $3, Z0, Z0, K1
	VPORD    Z15, Z0, K1, Z2
	VPSRLD   $16, Z2, Z2
	VPMOVDW  Z2, Y2
	VMOVNTDQ Y2, (DI)
	ADDQ     $64, SI
	ADDQ     $32, DI
	SUBQ     $16, CX
	JNZ      past
	VZEROUPPER
	RET

// The routines of affine, as those of affine_amd64.s; Z15 is a and Z14 b.
#define WIDE_STEP(loop) \
	VMOVUPS Z0, (DI) \
	ADDQ    $64, SI  \
	ADDQ    $64, DI  \
	SUBQ    $16, CX  \
	JNZ     loop

// func affineAVX512(dst, x *float32, a, b float32, n int)
TEXT ·affineAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Z15
	VBROADCASTSS b+20(FP), Z14
	MOVQ         n+24(FP), CX

plain:
	VADDPS (SI), Z15, Z0
	VMULPS Z14, Z0, Z0
	WIDE_STEP(plain)
	VZEROUPPER
	RET

// func affineByAVX512(dst, x *float32, a, b float32, w *float32, n int)
TEXT ·affineByAVX512(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Z15
	VBROADCASTSS b+20(FP), Z14
	MOVQ         w+24(FP), DX
	MOVQ         n+32(FP), CX

weighted:
	VADDPS (SI), Z15, Z0
	VMULPS Z14, Z0, Z0
	VMULPS (DX), Z0, Z0
	ADDQ   $64, DX
	WIDE_STEP(weighted)
	VZEROUPPER
	RET

// func affineByAndAVX512(dst, x *float32, a, b float32, w, c *float32, n int)
TEXT ·affineByAndAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Z15
	VBROADCASTSS b+20(FP), Z14
	MOVQ         w+24(FP), DX
	MOVQ         c+32(FP), BX
	MOVQ         n+40(FP), CX

shifted:
	VADDPS (SI), Z15, Z0
	VMULPS Z14, Z0, Z0
	VMULPS (DX), Z0, Z0
	VADDPS (BX), Z0, Z0
	ADDQ   $64, DX
	ADDQ   $64, BX
	WIDE_STEP(shifted)
	VZEROUPPER
	RET

// func fromBFloat16AheadAVX512(dst *float32, x *uint16, n, ahead int)
TEXT ·fromBFloat16AheadAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ ahead+24(FP), DX

ahead:
	PREFETCHT0 (SI)(DX*2)
	VPMOVZXWD  (SI), Z0
	VPMOVZXWD  32(SI), Z1
	VPSLLD     $16, Z0, Z0
	VPSLLD     $16, Z1, Z1
	VMOVUPS    Z0, (DI)
	VMOVUPS    Z1, 64(DI)
	ADDQ       $64, SI
	ADDQ       $128, DI
	SUBQ       $32, CX
	JNZ        ahead
	VZEROUPPER
	RET
