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

// func extremesAVX2(x *float32, n int) (lo, hi int32, size uint32)
//
// Bits of negative numbers but for the sign are turned over: then all are in the
// order of integers, -0 below +0.
TEXT ·extremesAVX2(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD magnitude<>(SB), Y15
	VPXOR        Y2, Y2, Y2
	VPCMPEQD     Y4, Y4, Y4
	VPSLLD       $31, Y4, Y4 // the least
	VMOVDQA      Y15, Y3     // the largest

order:
	VMOVDQU      (SI), Y0
	VPAND        Y0, Y15, Y1
	VPMAXUD      Y1, Y2, Y2
	VPSRAD       $31, Y0, Y1
	VPAND        Y1, Y15, Y1
	VPXOR        Y1, Y0, Y0
	VPMINSD      Y0, Y3, Y3
	VPMAXSD      Y0, Y4, Y4
	ADDQ         $32, SI
	SUBQ         $8, CX
	JNZ          order
	VEXTRACTI128 $1, Y2, X1
	VPMAXUD      X1, X2, X2
	VPSHUFD      $0x4e, X2, X1
	VPMAXUD      X1, X2, X2
	VPSHUFD      $0xb1, X2, X1
	VPMAXUD      X1, X2, X2
	VMOVD        X2, AX
	MOVL         AX, size+24(FP)
	VEXTRACTI128 $1, Y3, X1
	VPMINSD      X1, X3, X3
	VPSHUFD      $0x4e, X3, X1
	VPMINSD      X1, X3, X3
	VPSHUFD      $0xb1, X3, X1
	VPMINSD      X1, X3, X3
	VMOVD        X3, AX
	MOVL         AX, lo+16(FP)
	VEXTRACTI128 $1, Y4, X1
	VPMAXSD      X1, X4, X4
	VPSHUFD      $0x4e, X4, X1
	VPMAXSD      X1, X4, X4
	VPSHUFD      $0xb1, X4, X1
	VPMAXSD      X1, X4, X4
	VMOVD        X4, AX
	MOVL         AX, hi+20(FP)
	VZEROUPPER
	RET
