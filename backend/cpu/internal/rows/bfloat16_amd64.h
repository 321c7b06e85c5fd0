// Rounding to bfloat16, with AVX2 and with AVX-512. Each file that includes this has constants of
// its own.

// Constants of ROUND, one for each lane.
DATA one<>+0(SB)/4, $1
GLOBL one<>(SB), RODATA|NOPTR, $4
DATA half<>+0(SB)/4, $0x7fff
GLOBL half<>(SB), RODATA|NOPTR, $4
DATA quiet<>+0(SB)/4, $0x400000
GLOBL quiet<>(SB), RODATA|NOPTR, $4

#define CONSTANTS \
	VPBROADCASTD one<>(SB), Y13   \
	VPBROADCASTD half<>(SB), Y14  \
	VPBROADCASTD quiet<>(SB), Y15

// ROUND leaves the bits of x, rounded to bfloat16, in the low halves of the
// lanes of t: (x + 0x7fff + bit 16 of x) >> 16, and x | quiet >> 16 for a NaN.
#define ROUND(x, t, m) \
	VPSRLD    $16, x, t      \
	VPAND     Y13, t, t      \
	VPADDD    Y14, t, t      \
	VPADDD    x, t, t        \
	VCMPPS    $3, x, x, m    \
	VPOR      Y15, x, x      \
	VBLENDVPS m, x, t, t     \
	VPSRLD    $16, t, t

// Constants of ROUNDS, one for each lane.
DATA rounding<>+0(SB)/4, $0x8000
DATA rounding<>+4(SB)/4, $0x10000
DATA rounding<>+8(SB)/4, $0xffff
DATA rounding<>+12(SB)/4, $0x400000 // of a quiet NaN
GLOBL rounding<>(SB), RODATA|NOPTR, $16

#define CONSTANTS_WIDE \
	VPBROADCASTD rounding<>+0(SB), Z13 \
	VPBROADCASTD rounding<>+4(SB), Z14 \
	VPBROADCASTD rounding<>+8(SB), Z15 \
	VPBROADCASTD rounding<>+12(SB), Z10

// ROUNDS leaves the bits of x, rounded to bfloat16, in the high halves of the lanes of t: those
// of x + 0x8000, of a tie without the last bit, and of x | quiet for a NaN.
#define ROUNDS(x, t) \
	VPADDD    Z13, x, t     \
	VPTESTNMD Z15, t, K1    \
	VCMPPS    $3, x, x, K2  \
	VPANDND   t, Z14, K1, t \
	VPORD     Z10, x, K2, t
