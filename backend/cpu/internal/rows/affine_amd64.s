#include "textflag.h"

// The routines of affine take dst, x, a, b, then rows w and c as far as they have them,
// and n; Y15 is a and Y14 b.
#define SCALED \
	VADDPS (SI), Y15, Y0   \
	VADDPS 32(SI), Y15, Y1 \
	VMULPS Y14, Y0, Y0     \
	VMULPS Y14, Y1, Y1

#define STEP(loop) \
	VMOVUPS Y0, (DI)   \
	VMOVUPS Y1, 32(DI) \
	ADDQ    $64, SI    \
	ADDQ    $64, DI    \
	SUBQ    $16, CX    \
	JNZ     loop

// func affineAVX2(dst, x *float32, a, b float32, n int)
TEXT ·affineAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Y15
	VBROADCASTSS b+20(FP), Y14
	MOVQ         n+24(FP), CX

plain:
	SCALED
	STEP(plain)
	VZEROUPPER
	RET

// func affineByAVX2(dst, x *float32, a, b float32, w *float32, n int)
TEXT ·affineByAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Y15
	VBROADCASTSS b+20(FP), Y14
	MOVQ         w+24(FP), DX
	MOVQ         n+32(FP), CX

weighted:
	SCALED
	VMULPS (DX), Y0, Y0
	VMULPS 32(DX), Y1, Y1
	ADDQ   $64, DX
	STEP(weighted)
	VZEROUPPER
	RET

// func affineByAndAVX2(dst, x *float32, a, b float32, w, c *float32, n int)
TEXT ·affineByAndAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS a+16(FP), Y15
	VBROADCASTSS b+20(FP), Y14
	MOVQ         w+24(FP), DX
	MOVQ         c+32(FP), BX
	MOVQ         n+40(FP), CX

shifted:
	SCALED
	VMULPS (DX), Y0, Y0
	VMULPS 32(DX), Y1, Y1
	VADDPS (BX), Y0, Y0
	VADDPS 32(BX), Y1, Y1
	ADDQ   $64, DX
	ADDQ   $64, BX
	STEP(shifted)
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
