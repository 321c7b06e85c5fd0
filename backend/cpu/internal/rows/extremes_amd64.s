#include "textflag.h"

DATA magnitude<>+0(SB)/4, $0x7fffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $4
DATA magnitudes<>+0(SB)/4, $0x7fff7fff
GLOBL magnitudes<>(SB), RODATA|NOPTR, $4

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

// func absMaxBFloat16AVX2(x *uint16, n int) uint16
//
// In the same way. Across a register there is an instruction for the least: of what
// the largest lacks to all bits.
TEXT ·absMaxBFloat16AVX2(SB), NOSPLIT, $0-18
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD magnitudes<>(SB), Y15
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3

sizes:
	VPAND        (SI), Y15, Y0
	VPAND        32(SI), Y15, Y1
	VPMAXUW      Y0, Y2, Y2
	VPMAXUW      Y1, Y3, Y3
	ADDQ         $64, SI
	SUBQ         $32, CX
	JNZ          sizes
	VPMAXUW      Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPMAXUW      X1, X2, X2
	VPXOR        X15, X2, X2
	VPHMINPOSUW  X2, X2
	VMOVD        X2, AX
	XORL         $0x7fff, AX
	MOVW         AX, ret+16(FP)
	VZEROUPPER
	RET
