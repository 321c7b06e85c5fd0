// By hand: one routine of one width, which reads fields of a struct by go_asm.h.

#include "textflag.h"
#include "go_asm.h"

// func cubicsAVX2(dst, x *float32, n int, c *Cubics) (done int)
//
// Four elements at a time, up to the first four with a NaN: their four cubics are loaded and
// transposed.
TEXT ·cubicsAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         c+24(FP), BX
	MOVQ         Cubics_Table(BX), DX
	VBROADCASTSD Cubics_Lo(BX), Y15
	VBROADCASTSD Cubics_PerStep(BX), Y14
	VBROADCASTSD Cubics_Last(BX), Y13

cubics:
	VCVTPS2PD (SI), Y0
	VCMPPD    $3, Y0, Y0, Y1 // NaN
	VMOVMSKPD Y1, AX
	TESTQ     AX, AX
	JNE       done

	VMAXPD      Y15, Y0, Y0
	VMINPD      Y13, Y0, Y0
	VSUBPD      Y15, Y0, Y0
	VMULPD      Y14, Y0, Y0
	VCVTTPD2DQY Y0, X1
	VCVTDQ2PD   X1, Y2
	VSUBPD      Y2, Y0, Y0       // t

	VPSLLD  $5, X1, X1
	VMOVQ   X1, R8
	VPEXTRQ $1, X1, R10
	MOVL    R8, R9
	SHRQ    $32, R8
	MOVL    R10, R11
	SHRQ    $32, R10
	VMOVUPD (DX)(R9*1), Y1
	VMOVUPD (DX)(R8*1), Y2
	VMOVUPD (DX)(R11*1), Y3
	VMOVUPD (DX)(R10*1), Y4

	VUNPCKLPD  Y2, Y1, Y5
	VUNPCKHPD  Y2, Y1, Y6
	VUNPCKLPD  Y4, Y3, Y7
	VUNPCKHPD  Y4, Y3, Y8
	VPERM2F128 $0x31, Y8, Y6, Y4 // factors of t³
	VMULPD     Y0, Y4, Y4
	VPERM2F128 $0x31, Y7, Y5, Y3 // of t²
	VADDPD     Y3, Y4, Y4
	VMULPD     Y0, Y4, Y4
	VPERM2F128 $0x20, Y8, Y6, Y2
	VADDPD     Y2, Y4, Y4
	VMULPD     Y0, Y4, Y4
	VPERM2F128 $0x20, Y7, Y5, Y1
	VADDPD     Y1, Y4, Y4

	VCVTPD2PSY Y4, X4
	VMOVUPS    X4, (DI)
	ADDQ       $16, SI
	ADDQ       $16, DI
	SUBQ       $4, CX
	JNZ        cubics

done:
	MOVQ n+16(FP), AX
	SUBQ CX, AX
	MOVQ AX, done+32(FP)
	VZEROUPPER
	RET
