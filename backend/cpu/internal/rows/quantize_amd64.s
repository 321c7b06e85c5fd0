#include "textflag.h"

DATA magnitude<>+0(SB)/4, $0x7fffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $4
DATA most<>+0(SB)/4, $0x42fe0000 // 127
GLOBL most<>(SB), RODATA|NOPTR, $4
DATA least<>+0(SB)/4, $0xc3000000 // -128
GLOBL least<>(SB), RODATA|NOPTR, $4

// CODES leaves 8 floats of x as int32 codes: NaN becomes 0, the rest saturates
// and rounds to nearest even. m is lost.
#define CODES(x, m) \
	VCMPPS    $7, x, x, m  \
	VANDPS    m, x, x      \
	VMINPS    Y14, x, x    \
	VMAXPS    Y15, x, x    \
	VCVTPS2DQ x, x

// func toInt8AVX2(dst *int8, x *float32, n int)
TEXT ·toInt8AVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS most<>(SB), Y14
	VBROADCASTSS least<>(SB), Y15

codes:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	CODES(Y0, Y2)
	CODES(Y1, Y3)
	VPACKSSDW    Y1, Y0, Y0
	VPERMQ       $0xd8, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKSSWB    X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $64, SI
	ADDQ         $16, DI
	SUBQ         $16, CX
	JNZ          codes
	VZEROUPPER
	RET

// func absMaxAVX2(x *float32, n int) float32
//
// The largest of the bits without signs, as unsigned numbers.
TEXT ·absMaxAVX2(SB), NOSPLIT, $0-20
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD magnitude<>(SB), Y15
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3

size:
	VPAND        (SI), Y15, Y0
	VPAND        32(SI), Y15, Y1
	VPMAXUD      Y0, Y2, Y2
	VPMAXUD      Y1, Y3, Y3
	ADDQ         $64, SI
	SUBQ         $16, CX
	JNZ          size
	VPMAXUD      Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPMAXUD      X1, X2, X2
	VPSHUFD      $0x4e, X2, X1
	VPMAXUD      X1, X2, X2
	VPSHUFD      $0xb1, X2, X1
	VPMAXUD      X1, X2, X2
	VMOVD        X2, AX
	MOVL         AX, ret+16(FP)
	VZEROUPPER
	RET
