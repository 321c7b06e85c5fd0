#include "textflag.h"
#include "affine_amd64.h"
#include "bfloat16_amd64.h"

// func fromInt32AVX2(dst *float32, x *int32, n int)
TEXT ·fromInt32AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX

fromint:
	VCVTDQ2PS (SI), Y0
	VCVTDQ2PS 32(SI), Y1
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       fromint
	VZEROUPPER
	RET

// func fromBFloat16AVX2(dst *float32, x *uint16, n int)
TEXT ·fromBFloat16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX

widen:
	VPMOVZXWD (SI), Y0
	VPMOVZXWD 16(SI), Y1
	VPSLLD    $16, Y0, Y0
	VPSLLD    $16, Y1, Y1
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       widen
	VZEROUPPER
	RET

// func toBFloat16AVX2(dst *uint16, x *float32, n int)
TEXT ·toBFloat16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS

narrow:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	ROUND(Y0, Y2, Y4)
	ROUND(Y1, Y3, Y5)
	VPACKUSDW Y3, Y2, Y2
	VPERMQ    $0xd8, Y2, Y2
	VMOVDQU   Y2, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       narrow
	VZEROUPPER
	RET

// func toBFloat16NonTemporalAVX2(dst *uint16, x *float32, n int)
TEXT ·toBFloat16NonTemporalAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS

narrownontemporal:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	ROUND(Y0, Y2, Y4)
	ROUND(Y1, Y3, Y5)
	VPACKUSDW Y3, Y2, Y2
	VPERMQ    $0xd8, Y2, Y2
	VMOVNTDQ  Y2, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       narrownontemporal
	VZEROUPPER
	RET

// func addBFloat16AVX2(dst *uint16, x *float32, n int)
TEXT ·addBFloat16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS

addnarrow:
	VPMOVZXWD (DI), Y0
	VPMOVZXWD 16(DI), Y1
	VPSLLD    $16, Y0, Y0
	VPSLLD    $16, Y1, Y1
	VADDPS    (SI), Y0, Y0
	VADDPS    32(SI), Y1, Y1
	ROUND(Y0, Y2, Y4)
	ROUND(Y1, Y3, Y5)
	VPACKUSDW Y3, Y2, Y2
	VPERMQ    $0xd8, Y2, Y2
	VMOVDQU   Y2, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       addnarrow
	VZEROUPPER
	RET

// func copyNonTemporalAVX2(dst, x *float32, n int)
TEXT ·copyNonTemporalAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX

copy:
	VMOVUPS  (SI), Y0
	VMOVUPS  32(SI), Y1
	VMOVNTPS Y0, (DI)
	VMOVNTPS Y1, 32(DI)
	ADDQ     $64, SI
	ADDQ     $64, DI
	SUBQ     $16, CX
	JNZ      copy
	VZEROUPPER
	RET

// Y12 is a and Y11 b; ROUND has the registers above.
#define AFFINE \
	VADDPS Y12, Y0, Y0    \
	VADDPS Y12, Y1, Y1    \
	VMULPS Y11, Y0, Y0    \
	VMULPS Y11, Y1, Y1    \
	VMULPS (DX), Y0, Y0   \
	VMULPS 32(DX), Y1, Y1 \
	VADDPS (BX), Y0, Y0   \
	VADDPS 32(BX), Y1, Y1

#define AFFINE_FLOATS \
	VMOVUPS (SI), Y0   \
	VMOVUPS 32(SI), Y1 \
	AFFINE

#define AFFINE_BFLOATS \
	VPMOVZXWD (SI), Y0      \
	VPMOVZXWD 16(SI), Y1    \
	VPSLLD    $16, Y0, Y0   \
	VPSLLD    $16, Y1, Y1   \
	AFFINE                  \
	ROUND(Y0, Y2, Y4)       \
	ROUND(Y1, Y3, Y5)       \
	VPACKUSDW Y3, Y2, Y2    \
	VPERMQ    $0xd8, Y2, Y2

// func affineAVX2(dst, x *float32, a, b float32, w, c *float32, n int, past bool)
TEXT ·affineAVX2(SB), NOSPLIT, $0-49
	VBROADCASTSS a+16(FP), Y12
	VBROADCASTSS b+20(FP), Y11
	AFFINE_ARGUMENTS
	JNE          past

usual:
	AFFINE_FLOATS
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	AFFINE_STEP(64, 16, usual)
	VZEROUPPER
	RET

past:
	AFFINE_FLOATS
	VMOVNTPS Y0, (DI)
	VMOVNTPS Y1, 32(DI)
	AFFINE_STEP(64, 16, past)
	VZEROUPPER
	RET

// func affineBFloat16AVX2(dst, x *uint16, a, b float32, w, c *float32, n int, past bool)
TEXT ·affineBFloat16AVX2(SB), NOSPLIT, $0-49
	VBROADCASTSS a+16(FP), Y12
	VBROADCASTSS b+20(FP), Y11
	CONSTANTS
	AFFINE_ARGUMENTS
	JNE          past

usual:
	AFFINE_BFLOATS
	VMOVDQU Y2, (DI)
	AFFINE_STEP(32, 16, usual)
	VZEROUPPER
	RET

past:
	AFFINE_BFLOATS
	VMOVNTDQ Y2, (DI)
	AFFINE_STEP(32, 16, past)
	VZEROUPPER
	RET
