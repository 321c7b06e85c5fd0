//go:build !amxemulated

// By hand: an instruction that Go has no other way to.

#include "textflag.h"

// func xcr0() uint64
TEXT ·xcr0(SB), NOSPLIT, $0-8
	XORL CX, CX
	XGETBV
	SHLQ $32, DX
	ORQ DX, AX
	MOVQ AX, ret+0(FP)
	RET
