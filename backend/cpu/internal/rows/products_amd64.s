#include "textflag.h"
#include "bfloat16_amd64.h"

// Of rows; AX is the element, and the sign of the second product is turned over where sign has it.
#define PRODUCTS_ARGUMENTS \
	MOVQ dst+0(FP), R8    \
	MOVQ x+16(FP), R9     \
	MOVQ y+32(FP), R10    \
	MOVQ z+48(FP), R11    \
	MOVQ w+64(FP), R12    \
	MOVQ rows+80(FP), R13 \
	MOVQ n+88(FP), CX

// The next row; shift is of the bytes of an element of dst, x and z.
#define PRODUCTS_NEXT(shift, row) \
	MOVQ ldd+8(FP), AX      \
	SHLQ $shift, AX         \
	ADDQ AX, R8             \
	MOVQ ldx+24(FP), AX     \
	SHLQ $shift, AX         \
	ADDQ AX, R9             \
	MOVQ ldy+40(FP), AX     \
	LEAQ (R10)(AX*4), R10   \
	MOVQ ldz+56(FP), AX     \
	SHLQ $shift, AX         \
	ADDQ AX, R11            \
	MOVQ ldw+72(FP), AX     \
	LEAQ (R12)(AX*4), R12   \
	DECQ R13                \
	JNZ  row

// func productsAVX2(dst *float32, ldd int, x *float32, ldx int, y *float32, ldy int, z *float32, ldz int, w *float32, ldw int, rows, n int, sign float32)
TEXT ·productsAVX2(SB), NOSPLIT, $0-100
	PRODUCTS_ARGUMENTS
	VBROADCASTSS sign+96(FP), Y7

row:
	XORQ AX, AX

element:
	VMOVUPS (R9)(AX*4), Y0
	VMULPS  (R10)(AX*4), Y0, Y0
	VMOVUPS (R11)(AX*4), Y1
	VMULPS  (R12)(AX*4), Y1, Y1
	VXORPS  Y7, Y1, Y1
	VADDPS  Y1, Y0, Y0
	VMOVUPS Y0, (R8)(AX*4)
	ADDQ    $8, AX
	CMPQ    AX, CX
	JLT     element
	PRODUCTS_NEXT(2, row)
	VZEROUPPER
	RET

// func productsBFloat16AVX2(dst *uint16, ldd int, x *uint16, ldx int, y *float32, ldy int, z *uint16, ldz int, w *float32, ldw int, rows, n int, sign float32)
TEXT ·productsBFloat16AVX2(SB), NOSPLIT, $0-100
	PRODUCTS_ARGUMENTS
	VBROADCASTSS sign+96(FP), Y7
	CONSTANTS

row:
	XORQ AX, AX

element:
	VPMOVZXWD    (R9)(AX*2), Y0
	VPMOVZXWD    (R11)(AX*2), Y1
	VPSLLD       $16, Y0, Y0
	VPSLLD       $16, Y1, Y1
	VMULPS       (R10)(AX*4), Y0, Y0
	VMULPS       (R12)(AX*4), Y1, Y1
	VXORPS       Y7, Y1, Y1
	VADDPS       Y1, Y0, Y0
	ROUND(Y0, Y2, Y4)
	VEXTRACTI128 $1, Y2, X3
	VPACKUSDW    X3, X2, X2
	VMOVDQU      X2, (R8)(AX*2)
	ADDQ         $8, AX
	CMPQ         AX, CX
	JLT          element
	PRODUCTS_NEXT(1, row)
	VZEROUPPER
	RET

// func productsAVX512(dst *float32, ldd int, x *float32, ldx int, y *float32, ldy int, z *float32, ldz int, w *float32, ldw int, rows, n int, sign float32)
TEXT ·productsAVX512(SB), NOSPLIT, $0-100
	PRODUCTS_ARGUMENTS
	VBROADCASTSS sign+96(FP), Z7

row:
	XORQ AX, AX

element:
	VMOVUPS (R9)(AX*4), Z0
	VMULPS  (R10)(AX*4), Z0, Z0
	VMOVUPS (R11)(AX*4), Z1
	VMULPS  (R12)(AX*4), Z1, Z1
	VPXORD  Z7, Z1, Z1
	VADDPS  Z1, Z0, Z0
	VMOVUPS Z0, (R8)(AX*4)
	ADDQ    $16, AX
	CMPQ    AX, CX
	JLT     element
	PRODUCTS_NEXT(2, row)
	VZEROUPPER
	RET

// func productsBFloat16AVX512(dst *uint16, ldd int, x *uint16, ldx int, y *float32, ldy int, z *uint16, ldz int, w *float32, ldw int, rows, n int, sign float32)
TEXT ·productsBFloat16AVX512(SB), NOSPLIT, $0-100
	PRODUCTS_ARGUMENTS
	VBROADCASTSS sign+96(FP), Z7
	CONSTANTS_WIDE

row:
	XORQ AX, AX

element:
	VPMOVZXWD (R9)(AX*2), Z0
	VPMOVZXWD (R11)(AX*2), Z1
	VPSLLD    $16, Z0, Z0
	VPSLLD    $16, Z1, Z1
	VMULPS    (R10)(AX*4), Z0, Z0
	VMULPS    (R12)(AX*4), Z1, Z1
	VPXORD    Z7, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ROUNDS(Z0, Z2)
	VPSRLD    $16, Z2, Z2
	VPMOVDW   Z2, (R8)(AX*2)
	ADDQ      $16, AX
	CMPQ      AX, CX
	JLT       element
	PRODUCTS_NEXT(1, row)
	VZEROUPPER
	RET
