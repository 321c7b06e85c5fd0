// The routines of affine: what is at SI, plus a, times b, times what is at DX, plus what is at
// BX. Their last argument says whether dst is written past the caches.
#define AFFINE_ARGUMENTS \
	MOVQ dst+0(FP), DI \
	MOVQ x+8(FP), SI   \
	MOVQ w+24(FP), DX  \
	MOVQ c+32(FP), BX  \
	MOVQ n+40(FP), CX  \
	CMPB past+48(FP), $0

// Of so many elements, which are so many bytes of x and dst.
#define AFFINE_STEP(bytes, elements, loop) \
	ADDQ $bytes, SI        \
	ADDQ $bytes, DI        \
	ADDQ $(4*elements), DX \
	ADDQ $(4*elements), BX \
	SUBQ $elements, CX     \
	JNZ  loop
