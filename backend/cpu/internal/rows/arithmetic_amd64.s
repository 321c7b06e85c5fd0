#include "textflag.h"

#define ARGUMENTS \
	MOVQ dst+0(FP), DI \
	MOVQ x+8(FP), SI   \
	MOVQ y+16(FP), DX  \
	MOVQ n+24(FP), CX

#define STEP(loop) \
	ADDQ $64, SI \
	ADDQ $64, DX \
	ADDQ $64, DI \
	SUBQ $16, CX \
	JNZ  loop

// func addAVX2(dst, x, y *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

add:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VADDPS  (DX), Y0, Y0
	VADDPS  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(add)
	VZEROUPPER
	RET

// func subAVX2(dst, x, y *float32, n int)
TEXT ·subAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

sub:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VSUBPS  (DX), Y0, Y0
	VSUBPS  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(sub)
	VZEROUPPER
	RET

// func mulAVX2(dst, x, y *float32, n int)
TEXT ·mulAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

mul:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMULPS  (DX), Y0, Y0
	VMULPS  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(mul)
	VZEROUPPER
	RET

// func scaleAVX2(dst, x *float32, by float32, n int)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS by+16(FP), Y2
	MOVQ         n+24(FP), CX

scale:
	VMULPS  (SI), Y2, Y0
	VMULPS  32(SI), Y2, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     scale
	VZEROUPPER
	RET

// func addMulAVX2(dst, x, y *float32, n int)
TEXT ·addMulAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

addmul:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMULPS  (DX), Y0, Y0
	VMULPS  32(DX), Y1, Y1
	VADDPS  (DI), Y0, Y0
	VADDPS  32(DI), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(addmul)
	VZEROUPPER
	RET

// func subMulAVX2(dst, x, y *float32, n int)
TEXT ·subMulAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

submul:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS (DI), Y2
	VMOVUPS 32(DI), Y3
	VMULPS  (DX), Y0, Y0
	VMULPS  32(DX), Y1, Y1
	VSUBPS  Y0, Y2, Y2
	VSUBPS  Y1, Y3, Y3
	VMOVUPS Y2, (DI)
	VMOVUPS Y3, 32(DI)
	STEP(submul)
	VZEROUPPER
	RET

// func selectAVX2(dst, x, y *float32, cond *bool, n int)
TEXT ·selectAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ cond+24(FP), BX
	MOVQ n+32(FP), CX

choose:
	VPMOVZXBD (BX), Y0
	VPMOVZXBD 8(BX), Y1
	VPSLLD    $31, Y0, Y0            // a blend looks at the sign
	VPSLLD    $31, Y1, Y1
	VMOVUPS   (DX), Y2
	VMOVUPS   32(DX), Y3
	VBLENDVPS Y0, (SI), Y2, Y2
	VBLENDVPS Y1, 32(SI), Y3, Y3
	VMOVUPS   Y2, (DI)
	VMOVUPS   Y3, 32(DI)
	ADDQ      $16, BX
	STEP(choose)
	VZEROUPPER
	RET

// EXTREME leaves the larger or the smaller of x and y in x: the instruction
// returns its second operand for zeros of two signs and for NaN, so both orders
// are asked and meet in the sign of zero; NaN gets all bits.
#define EXTREME(which, meet, x, y, t) \
	which  x, y, t      \
	VCMPPS $3, x, y, Y7 \
	which  y, x, x      \
	meet   t, x, x      \
	VORPS  Y7, x, x

// func maxAVX2(dst, x, y *float32, n int)
TEXT ·maxAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

max:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS (DX), Y2
	VMOVUPS 32(DX), Y3
	EXTREME(VMAXPS, VANDPS, Y0, Y2, Y4)
	EXTREME(VMAXPS, VANDPS, Y1, Y3, Y5)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(max)
	VZEROUPPER
	RET

// func minAVX2(dst, x, y *float32, n int)
TEXT ·minAVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

min:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS (DX), Y2
	VMOVUPS 32(DX), Y3
	EXTREME(VMINPS, VORPS, Y0, Y2, Y4)
	EXTREME(VMINPS, VORPS, Y1, Y3, Y5)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(min)
	VZEROUPPER
	RET

// func addInt32AVX2(dst, x, y *int32, n int)
TEXT ·addInt32AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

addInt32:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VPADDD  (DX), Y0, Y0
	VPADDD  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(addInt32)
	VZEROUPPER
	RET

// func subInt32AVX2(dst, x, y *int32, n int)
TEXT ·subInt32AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

subInt32:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VPSUBD  (DX), Y0, Y0
	VPSUBD  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(subInt32)
	VZEROUPPER
	RET

// func mulInt32AVX2(dst, x, y *int32, n int)
TEXT ·mulInt32AVX2(SB), NOSPLIT, $0-32
	ARGUMENTS

mulInt32:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VPMULLD  (DX), Y0, Y0
	VPMULLD  32(DX), Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	STEP(mulInt32)
	VZEROUPPER
	RET

// func divideAVX2(dst, x *float32, by float32, n int)
TEXT ·divideAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS by+16(FP), Y2
	MOVQ         n+24(FP), CX

divide:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VDIVPS  Y2, Y0, Y0
	VDIVPS  Y2, Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     divide
	VZEROUPPER
	RET
