#include "textflag.h"

// Constants of vexp.go: the bounds of both arguments, log₂e in two parts, and the
// coefficients, the constant first.
DATA numbers<>+0(SB)/4, $0x43480000  // 200
DATA numbers<>+4(SB)/4, $0xc3480000  // -200
DATA numbers<>+8(SB)/4, $0x43160000  // 150
DATA numbers<>+12(SB)/4, $0xc3160000 // -150
DATA numbers<>+16(SB)/4, $1.44269502
DATA numbers<>+20(SB)/4, $1.92596303e-8
DATA numbers<>+24(SB)/4, $1.0
DATA numbers<>+28(SB)/4, $0.693147206
DATA numbers<>+32(SB)/4, $0.240226469
DATA numbers<>+36(SB)/4, $0.0555032878
DATA numbers<>+40(SB)/4, $0.00961848896
DATA numbers<>+44(SB)/4, $0.00133999312
DATA numbers<>+48(SB)/4, $0.00015345812
DATA numbers<>+52(SB)/4, $127 // bias of an exponent
GLOBL numbers<>(SB), RODATA|NOPTR, $56

#define COEFFICIENTS512 \
	VBROADCASTSS numbers<>+24(SB), Z16 \
	VBROADCASTSS numbers<>+28(SB), Z17 \
	VBROADCASTSS numbers<>+32(SB), Z18 \
	VBROADCASTSS numbers<>+36(SB), Z19 \
	VBROADCASTSS numbers<>+40(SB), Z20 \
	VBROADCASTSS numbers<>+44(SB), Z21 \
	VBROADCASTSS numbers<>+48(SB), Z22

// 2^(Z2+Z1) to Z3.
#define POWER512 \
	VMOVAPS     Z22, Z3      \
	VFMADD213PS Z21, Z2, Z3  \
	VFMADD213PS Z20, Z2, Z3  \
	VFMADD213PS Z19, Z2, Z3  \
	VFMADD213PS Z18, Z2, Z3  \
	VFMADD213PS Z17, Z2, Z3  \
	VFMADD213PS Z16, Z2, Z3  \
	VSCALEFPS   Z1, Z3, Z3

// Of rows that are ldd and ldx elements apart, n of each.
#define ROWS512 \
	MOVQ dst+0(FP), R8   \
	MOVQ ldd+8(FP), R10  \
	MOVQ x+16(FP), R9    \
	MOVQ ldx+24(FP), R11 \
	MOVQ less+32(FP), BX \
	MOVQ rows+40(FP), R12 \
	SHLQ $2, R10         \
	SHLQ $2, R11

#define ROW512 \
	MOVQ         R8, DI        \
	MOVQ         R9, SI        \
	VBROADCASTSS (BX), Z15     \
	MOVQ         n+48(FP), CX

#define NEXTROW512(row) \
	ADDQ R10, R8 \
	ADDQ R11, R9 \
	ADDQ $4, BX  \
	DECQ R12     \
	JNZ  row

// Of rows that are ldx elements apart, of each of which dst has one number.
#define ONES512 \
	MOVQ dst+0(FP), DI    \
	MOVQ x+8(FP), R9      \
	MOVQ ldx+16(FP), R11  \
	MOVQ rows+24(FP), R12 \
	SHLQ $2, R11

#define NEXTONE512(row) \
	ADDQ $4, DI  \
	ADDQ R11, R9 \
	DECQ R12     \
	JNZ  row

// func exp2AVX512(dst *float32, ldd int, x *float32, ldx int, less *float32, rows, n int)
TEXT ·exp2AVX512(SB), NOSPLIT, $0-56
	ROWS512
	VBROADCASTSS numbers<>+0(SB), Z24
	VBROADCASTSS numbers<>+4(SB), Z25
	COEFFICIENTS512

row:
	ROW512

exp2:
	VMOVUPS     (SI), Z0
	VSUBPS      Z15, Z0, Z0
	VMAXPS      Z0, Z25, Z0  // a NaN stays: it is the second operand
	VMINPS      Z0, Z24, Z0
	VRNDSCALEPS $8, Z0, Z1
	VSUBPS      Z1, Z0, Z2
	POWER512
	VMOVUPS     Z3, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         exp2
	NEXTROW512(row)
	VZEROUPPER
	RET

// func expAVX512(dst *float32, ldd int, x *float32, ldx int, less *float32, rows, n int)
TEXT ·expAVX512(SB), NOSPLIT, $0-56
	ROWS512
	VBROADCASTSS numbers<>+8(SB), Z24
	VBROADCASTSS numbers<>+12(SB), Z25
	VBROADCASTSS numbers<>+16(SB), Z26
	VBROADCASTSS numbers<>+20(SB), Z27
	COEFFICIENTS512

row:
	ROW512

exp:
	VMOVUPS     (SI), Z0
	VSUBPS      Z15, Z0, Z0
	VMAXPS      Z0, Z25, Z0
	VMINPS      Z0, Z24, Z0
	VMULPS      Z26, Z0, Z1
	VRNDSCALEPS $8, Z1, Z1
	VMOVAPS     Z0, Z2
	VFMSUB213PS Z1, Z26, Z2  // x·log₂e − n, rounded once
	VFMADD231PS Z27, Z0, Z2
	POWER512
	VMOVUPS     Z3, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         exp
	NEXTROW512(row)
	VZEROUPPER
	RET

#define HALVES512 \
	VADDPS        Z1, Z0, Z0 \
	VEXTRACTF64X4 $1, Z0, Y1 \
	VADDPS        Y1, Y0, Y0 \
	VEXTRACTF128  $1, Y0, X1 \
	VADDPS        X1, X0, X0 \
	VPSHUFD       $0x4e, X0, X1 \
	VADDPS        X1, X0, X0 \
	VPSHUFD       $0xb1, X0, X1 \
	VADDPS        X1, X0, X0

// func sumsAVX512(dst, x *float32, ldx, rows, n int)
TEXT ·sumsAVX512(SB), NOSPLIT, $0-40
	ONES512

row:
	MOVQ   R9, SI
	MOVQ   n+32(FP), CX
	VXORPS Z0, Z0, Z0
	VXORPS Z1, Z1, Z1

sum:
	VADDPS (SI), Z0, Z0
	VADDPS 64(SI), Z1, Z1
	ADDQ   $128, SI
	SUBQ   $32, CX
	JNZ    sum
	HALVES512
	VMOVSS X0, (DI)
	NEXTONE512(row)
	VZEROUPPER
	RET

// func sumAVX512(sums, x *float32, n int)
TEXT ·sumAVX512(SB), NOSPLIT, $0-24
	MOVQ    sums+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1

sum:
	VADDPS  (SI), Z0, Z0
	VADDPS  64(SI), Z1, Z1
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     sum
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VZEROUPPER
	RET

// func halvesAVX512(sums *float32) float32
TEXT ·halvesAVX512(SB), NOSPLIT, $0-12
	MOVQ    sums+0(FP), SI
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	HALVES512
	VMOVSS  X0, ret+8(FP)
	VZEROUPPER
	RET

// func halvesAVX2(sums *float32) float32
TEXT ·halvesAVX2(SB), NOSPLIT, $0-12
	MOVQ         sums+0(FP), SI
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VADDPS       64(SI), Y0, Y0
	VADDPS       96(SI), Y1, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VADDPS       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VADDPS       X1, X0, X0
	VMOVSS       X0, ret+8(FP)
	VZEROUPPER
	RET

// 2^(T+N) to P, by two powers of two that float32 holds: the first product is exact.
// N and T are lost.
#define POWER256(N, T, P) \
	VMOVAPS     Y14, P       \
	VFMADD213PS Y13, T, P    \
	VFMADD213PS Y12, T, P    \
	VFMADD213PS Y11, T, P    \
	VFMADD213PS Y10, T, P    \
	VFMADD213PS Y9, T, P     \
	VFMADD213PS Y8, T, P     \
	VCVTPS2DQ   N, N         \
	VPSRAD      $1, N, T     \
	VPSUBD      T, N, N      \
	VPADDD      Y7, T, T     \
	VPADDD      Y7, N, N     \
	VPSLLD      $23, T, T    \
	VPSLLD      $23, N, N    \
	VMULPS      T, P, P      \
	VMULPS      N, P, P

#define COEFFICIENTS256 \
	VPBROADCASTD numbers<>+52(SB), Y7  \
	VBROADCASTSS numbers<>+24(SB), Y8  \
	VBROADCASTSS numbers<>+28(SB), Y9  \
	VBROADCASTSS numbers<>+32(SB), Y10 \
	VBROADCASTSS numbers<>+36(SB), Y11 \
	VBROADCASTSS numbers<>+40(SB), Y12 \
	VBROADCASTSS numbers<>+44(SB), Y13 \
	VBROADCASTSS numbers<>+48(SB), Y14

// func exp2AVX2(dst, x *float32, less float32, n int)
TEXT ·exp2AVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Y15
	MOVQ         n+24(FP), CX
	VBROADCASTSS numbers<>+0(SB), Y5
	VBROADCASTSS numbers<>+4(SB), Y6
	COEFFICIENTS256

exp2:
	VMOVUPS   (SI), Y0
	VSUBPS    Y15, Y0, Y0
	VMAXPS    Y0, Y6, Y0
	VMINPS    Y0, Y5, Y0
	VROUNDPS  $8, Y0, Y1
	VSUBPS    Y1, Y0, Y2
	POWER256(Y1, Y2, Y3)
	VMOVUPS   Y3, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JNZ       exp2
	VZEROUPPER
	RET

// func expAVX2(dst, x *float32, less float32, n int)
TEXT ·expAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Y15
	MOVQ         n+24(FP), CX
	VBROADCASTSS numbers<>+8(SB), Y5
	VBROADCASTSS numbers<>+12(SB), Y6
	VBROADCASTSS numbers<>+16(SB), Y4
	COEFFICIENTS256

exp:
	VMOVUPS      (SI), Y0
	VSUBPS       Y15, Y0, Y0
	VMAXPS       Y0, Y6, Y0
	VMINPS       Y0, Y5, Y0
	VMULPS       Y4, Y0, Y1
	VROUNDPS     $8, Y1, Y1
	VMOVAPS      Y0, Y2
	VFMSUB213PS  Y1, Y4, Y2
	VBROADCASTSS numbers<>+20(SB), Y3
	VFMADD231PS  Y3, Y0, Y2
	POWER256(Y1, Y2, Y3)
	VMOVUPS      Y3, (DI)
	ADDQ         $32, SI
	ADDQ         $32, DI
	SUBQ         $8, CX
	JNZ          exp
	VZEROUPPER
	RET

// func sumAVX2(sums, x *float32, n int)
TEXT ·sumAVX2(SB), NOSPLIT, $0-24
	MOVQ    sums+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3

sum:
	VADDPS  (SI), Y0, Y0
	VADDPS  32(SI), Y1, Y1
	VADDPS  64(SI), Y2, Y2
	VADDPS  96(SI), Y3, Y3
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     sum
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET

// func sumBFloat16AVX512(sums *float32, x *uint16, n int)
TEXT ·sumBFloat16AVX512(SB), NOSPLIT, $0-24
	MOVQ    sums+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1

sum:
	VPMOVZXWD (SI), Z2
	VPMOVZXWD 32(SI), Z3
	VPSLLD    $16, Z2, Z2
	VPSLLD    $16, Z3, Z3
	VADDPS    Z2, Z0, Z0
	VADDPS    Z3, Z1, Z1
	ADDQ      $64, SI
	SUBQ      $32, CX
	JNZ       sum
	VMOVUPS   Z0, (DI)
	VMOVUPS   Z1, 64(DI)
	VZEROUPPER
	RET

#define WIDEN4 \
	VPMOVZXWD (SI), Y4    \
	VPMOVZXWD 16(SI), Y5  \
	VPMOVZXWD 32(SI), Y6  \
	VPMOVZXWD 48(SI), Y7  \
	VPSLLD    $16, Y4, Y4 \
	VPSLLD    $16, Y5, Y5 \
	VPSLLD    $16, Y6, Y6 \
	VPSLLD    $16, Y7, Y7

// func sumBFloat16AVX2(sums *float32, x *uint16, n int)
TEXT ·sumBFloat16AVX2(SB), NOSPLIT, $0-24
	MOVQ    sums+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3

sum:
	WIDEN4
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	ADDQ   $64, SI
	SUBQ   $32, CX
	JNZ    sum
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET

#define SQUARES512 \
	VSUBPS Z15, Z2, Z2 \
	VSUBPS Z15, Z3, Z3 \
	VMULPS Z2, Z2, Z2  \
	VMULPS Z3, Z3, Z3  \
	VADDPS Z2, Z0, Z0  \
	VADDPS Z3, Z1, Z1  \
	SUBQ   $32, CX

// func squaresBFloat16AVX512(sums *float32, x *uint16, less float32, n int)
TEXT ·squaresBFloat16AVX512(SB), NOSPLIT, $0-32
	MOVQ         sums+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Z15
	MOVQ         n+24(FP), CX
	VMOVUPS      (DI), Z0
	VMOVUPS      64(DI), Z1

squares:
	VPMOVZXWD (SI), Z2
	VPMOVZXWD 32(SI), Z3
	VPSLLD    $16, Z2, Z2
	VPSLLD    $16, Z3, Z3
	ADDQ      $64, SI
	SQUARES512
	JNZ       squares
	VMOVUPS   Z0, (DI)
	VMOVUPS   Z1, 64(DI)
	VZEROUPPER
	RET

// func squaresAVX512(sums, x *float32, less float32, n int)
TEXT ·squaresAVX512(SB), NOSPLIT, $0-32
	MOVQ         sums+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Z15
	MOVQ         n+24(FP), CX
	VMOVUPS      (DI), Z0
	VMOVUPS      64(DI), Z1

squares:
	VMOVUPS (SI), Z2
	VMOVUPS 64(SI), Z3
	ADDQ    $128, SI
	SQUARES512
	JNZ     squares
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VZEROUPPER
	RET

#define SQUARES256 \
	VSUBPS Y15, Y4, Y4 \
	VSUBPS Y15, Y5, Y5 \
	VSUBPS Y15, Y6, Y6 \
	VSUBPS Y15, Y7, Y7 \
	VMULPS Y4, Y4, Y4  \
	VMULPS Y5, Y5, Y5  \
	VMULPS Y6, Y6, Y6  \
	VMULPS Y7, Y7, Y7  \
	VADDPS Y4, Y0, Y0  \
	VADDPS Y5, Y1, Y1  \
	VADDPS Y6, Y2, Y2  \
	VADDPS Y7, Y3, Y3  \
	SUBQ   $32, CX

// func squaresBFloat16AVX2(sums *float32, x *uint16, less float32, n int)
TEXT ·squaresBFloat16AVX2(SB), NOSPLIT, $0-32
	MOVQ         sums+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Y15
	MOVQ         n+24(FP), CX
	VMOVUPS      (DI), Y0
	VMOVUPS      32(DI), Y1
	VMOVUPS      64(DI), Y2
	VMOVUPS      96(DI), Y3

squares:
	WIDEN4
	ADDQ    $64, SI
	SQUARES256
	JNZ     squares
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET

// func squaresAVX2(sums, x *float32, less float32, n int)
TEXT ·squaresAVX2(SB), NOSPLIT, $0-32
	MOVQ         sums+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS less+16(FP), Y15
	MOVQ         n+24(FP), CX
	VMOVUPS      (DI), Y0
	VMOVUPS      32(DI), Y1
	VMOVUPS      64(DI), Y2
	VMOVUPS      96(DI), Y3

squares256:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	ADDQ    $128, SI
	SQUARES256
	JNZ     squares256
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET

// func largestAVX512(dst, x *float32, ldx, rows, n int) (unordered uint32)
TEXT ·largestAVX512(SB), NOSPLIT, $0-44
	ONES512
	KXORW K1, K1, K1

row:
	MOVQ    R9, SI
	MOVQ    n+32(FP), CX
	VMOVUPS (SI), Z0
	VMOVAPS Z0, Z1

top:
	VMOVUPS (SI), Z2
	VMOVUPS 64(SI), Z3
	VCMPPS  $3, Z3, Z2, K2 // one of both is a NaN
	VMAXPS  Z2, Z0, Z0
	VMAXPS  Z3, Z1, Z1
	KORW    K2, K1, K1
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     top
	VMAXPS        Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VMAXPS        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VMAXPS        X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VMAXPS        X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VMAXPS        X1, X0, X0
	VMOVSS        X0, (DI)
	NEXTONE512(row)
	KMOVW         K1, AX
	MOVL          AX, unordered+40(FP)
	VZEROUPPER
	RET

// func largestAVX2(x *float32, n int) (top float32, unordered uint32)
TEXT ·largestAVX2(SB), NOSPLIT, $0-24
	MOVQ    x+0(FP), SI
	MOVQ    n+8(FP), CX
	VMOVUPS (SI), Y0
	VMOVAPS Y0, Y1
	VXORPS  Y7, Y7, Y7

top2:
	VMOVUPS (SI), Y2
	VMOVUPS 32(SI), Y3
	VMOVUPS 64(SI), Y4
	VMOVUPS 96(SI), Y5
	VCMPPS  $3, Y3, Y2, Y6
	VORPS   Y6, Y7, Y7
	VCMPPS  $3, Y5, Y4, Y6
	VORPS   Y6, Y7, Y7
	VMAXPS  Y2, Y0, Y0
	VMAXPS  Y3, Y1, Y1
	VMAXPS  Y4, Y0, Y0
	VMAXPS  Y5, Y1, Y1
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     top2
	VMAXPS       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VMAXPS       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VMAXPS       X1, X0, X0
	VMOVSS       X0, top+16(FP)
	VMOVMSKPS    Y7, AX
	MOVL         AX, unordered+20(FP)
	VZEROUPPER
	RET
