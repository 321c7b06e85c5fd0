#include "textflag.h"

DATA most<>+0(SB)/4, $0x42fe0000 // 127
GLOBL most<>(SB), RODATA|NOPTR, $4
DATA least<>+0(SB)/4, $0xc3000000 // -128
GLOBL least<>(SB), RODATA|NOPTR, $4
DATA leastWord<>+0(SB)/8, $0x8000800080008000
DATA leastWord<>+8(SB)/8, $0x8000800080008000
DATA leastWord<>+16(SB)/8, $0x8000800080008000
DATA leastWord<>+24(SB)/8, $0x8000800080008000
GLOBL leastWord<>(SB), RODATA|NOPTR, $32
DATA leastByte<>+0(SB)/8, $0x8080808080808080
DATA leastByte<>+8(SB)/8, $0x8080808080808080
DATA leastByte<>+16(SB)/8, $0x8080808080808080
DATA leastByte<>+24(SB)/8, $0x8080808080808080
GLOBL leastByte<>(SB), RODATA|NOPTR, $32

// Where packing leaves what belongs at each place: of quarters of a register, and
// of bytes of a half of it.
DATA quarters<>+0(SB)/8, $0x0000000400000000
DATA quarters<>+8(SB)/8, $0x0000000500000001
DATA quarters<>+16(SB)/8, $0x0000000600000002
DATA quarters<>+24(SB)/8, $0x0000000700000003
GLOBL quarters<>(SB), RODATA|NOPTR, $32
DATA bytes<>+0(SB)/8, $0x0703060205010400
DATA bytes<>+8(SB)/8, $0x0f0b0e0a0d090c08
GLOBL bytes<>(SB), RODATA|NOPTR, $16

// Conversion to integers makes the most negative one of what none is near: of
// numbers below all, which is right as packing saturates, but also of those above
// all and of NaN. SCALED and SHIFTED leave it at that, Y9 has the least of all codes
// so far, as words or bytes, and if that is the most negative one, all is done again
// by CAREFUL.

#define SCALED(x) \
	VMULPS    Y12, x, x \
	VCVTPS2DQ x, x

#define SHIFTED(x) \
	VMULPS    Y12, x, x \
	VROUNDPS  $8, x, x  \
	VADDPS    Y11, x, x \
	VCVTPS2DQ x, x

#define CAREFUL(x) \
	VMULPS    Y12, x, x    \
	VROUNDPS  $8, x, x     \
	VADDPS    Y11, x, x    \
	VCMPPS    $7, x, x, Y4 \
	VANDPS    Y4, x, x     \
	VMINPS    Y14, x, x    \
	VMAXPS    Y15, x, x    \
	VCVTPS2DQ x, x

#define BEGIN \
	MOVQ         dst+0(FP), DI    \
	MOVQ         x+8(FP), SI      \
	MOVQ         n+24(FP), CX     \
	VBROADCASTSS by+16(FP), Y12   \
	VBROADCASTSS zero+20(FP), Y11 \
	VPXOR        Y9, Y9, Y9       \
	MOVL         zero+20(FP), AX  \
	ADDL         AX, AX           // 0 if zero is, whatever its sign: JNZ below asks

// PACKED packs where no code but a wrong one is likely to be the least of int8.
#define PACKED \
	VPACKSSDW Y1, Y0, Y0 \
	VPACKSSDW Y3, Y2, Y2 \
	VPACKSSWB Y2, Y0, Y0 \
	VPMINSB   Y0, Y9, Y9

// SPARED packs where many may be.
#define SPARED \
	VPACKSSDW Y1, Y0, Y0 \
	VPACKSSDW Y3, Y2, Y2 \
	VPMINSW   Y0, Y9, Y9 \
	VPMINSW   Y2, Y9, Y9 \
	VPACKSSWB Y2, Y0, Y0

#define STORE(loop) \
	VMOVDQU Y0, (DI) \
	ADDQ    $32, DI  \
	SUBQ    $32, CX  \
	JNZ     loop

#define CHECK(equal, least) \
	equal  least<>(SB), Y9, Y9 \
	VPTEST Y9, Y9              \
	JNZ    again               \
	VZEROUPPER                 \
	RET

#define AGAIN \
	MOVQ         dst+0(FP), DI   \
	MOVQ         x+8(FP), SI     \
	MOVQ         n+24(FP), CX    \
	VBROADCASTSS most<>(SB), Y14 \
	VBROADCASTSS least<>(SB), Y15

// FLOATS does 32 elements.
#define FLOATS(code, pack, loop) \
	VMOVUPS (SI), Y0    \
	VMOVUPS 32(SI), Y1  \
	VMOVUPS 64(SI), Y2  \
	VMOVUPS 96(SI), Y3  \
	code(Y0)            \
	code(Y1)            \
	code(Y2)            \
	code(Y3)            \
	pack                \
	VPERMD  Y0, Y10, Y0 \
	SUBQ    $-128, SI   \
	STORE(loop)

// func toInt8AVX2(dst *int8, x *float32, by, zero float32, n int)
TEXT ·toInt8AVX2(SB), NOSPLIT, $0-32
	BEGIN
	VMOVDQU quarters<>(SB), Y10
	JNZ     shifted

scaled:
	FLOATS(SCALED, PACKED, scaled)
	CHECK(VPCMPEQB, leastByte)

shifted:
	FLOATS(SHIFTED, SPARED, shifted)
	CHECK(VPCMPEQW, leastWord)

again:
	AGAIN

careful:
	FLOATS(CAREFUL, PACKED, careful)
	VZEROUPPER
	RET

// BFLOATS does 32 elements. Those at odd places are floats with what is at even ones
// in the bits beyond theirs. The halves of registers are loaded so that packing,
// which does each half alone, has codes in order but for eight next to each other.
#define BFLOATS(code, pack, loop) \
	VMOVDQU     16(SI), Y3            \
	VPBLENDD    $0x0f, (SI), Y3, Y0   \
	VPBLENDD    $0xf0, 32(SI), Y3, Y2 \
	PREFETCHT0  (SI)(DX*1)            \
	VPAND       Y0, Y13, Y1           \
	VPAND       Y2, Y13, Y3           \
	VPSLLD      $16, Y0, Y0           \
	VPSLLD      $16, Y2, Y2           \
	code(Y0)                          \
	code(Y1)                          \
	code(Y2)                          \
	code(Y3)                          \
	pack                              \
	VPSHUFB     Y10, Y0, Y0           \
	ADDQ        $64, SI               \
	STORE(loop)

// func bfloat16ToInt8AVX2(dst *int8, x *uint16, by, zero float32, n, ahead int)
TEXT ·bfloat16ToInt8AVX2(SB), NOSPLIT, $0-40
	MOVQ           ahead+32(FP), DX
	SHLQ           $1, DX
	VPCMPEQD       Y13, Y13, Y13
	VPSLLD         $16, Y13, Y13
	BEGIN
	VBROADCASTI128 bytes<>(SB), Y10
	JNZ            shifted

scaled:
	BFLOATS(SCALED, PACKED, scaled)
	CHECK(VPCMPEQB, leastByte)

shifted:
	BFLOATS(SHIFTED, SPARED, shifted)
	CHECK(VPCMPEQW, leastWord)

again:
	AGAIN

careful:
	BFLOATS(CAREFUL, PACKED, careful)
	VZEROUPPER
	RET
