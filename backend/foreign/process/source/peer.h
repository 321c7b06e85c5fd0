/* What the two halves of the program share: main.c speaks with the parent and
 * takes the time, the others know how a library is asked for a product. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>

/* The forms of a product o (m*n) = a (m*k) @ b (k*n), all row-major. Those from
 * SCALED on are multiplied by scales of a and of b, float32. */
enum form {
	F32,       /* float32 x float32 -> float32 */
	BF16_F32,  /* bfloat16 x bfloat16 -> float32 */
	BF16_BF16, /* bfloat16 x bfloat16 -> bfloat16 */
	F16_F32,   /* float16 x float16 -> float32 */
	F16_F16,   /* float16 x float16 -> float16 */
	S8_S32,    /* int8 x int8 -> int32 */
	U8_S32,    /* uint8 x int8 -> int32 */
	SCALED,
	S8_F32 = SCALED, /* int8 x int8 -> float32 */
	S8_BF16,         /* int8 x int8 -> bfloat16 */
	U8_F32,          /* uint8 x int8 -> float32, 128 the zero point of a */
	U8_BF16,         /* uint8 x int8 -> bfloat16, 128 the zero point of a */
	FORMS
};

/* What a form is called, and the bytes of an element of each array. */
struct elements {
	const char *name;
	size_t a, b, o;
};
extern const struct elements forms[FORMS];

struct product {
	enum form form;
	int batch; /* products, whose arrays follow each other */
	int m, k, n;
	int scales_a; /* 1 or m, one a row; 0 for none */
	int scales_b; /* 1 or n, one a column; 0 for none */
	void *a, *b, *o;
	float *sa, *sb;
	int packed;  /* b is laid out for the library when it comes, and no launch does so */
	void *state; /* of the library */
};

/* A library as main.c sees it. Functions that return a text return NULL if all
 * is well, and else why not. */
struct library {
	const char *version;
	int has[FORMS]; /* whether the form may be asked for */
	int packs[FORMS]; /* whether b may be packed ahead of launches, as p->packed asks */
	/* prepare makes p ready to run; *unsupported says that it never will be. */
	const char *(*prepare)(struct product *p, int *unsupported);
	/* loaded takes up the arrays that have come; NULL if they are read by launch. */
	const char *(*loaded)(struct product *p);
	/* launch computes the products once and returns when it is complete. */
	const char *(*launch)(struct product *p);
};

/* Each opens what the handle of a loaded library has. */
const char *open_cblas(void *handle, struct library *out);
const char *open_onednn(void *handle, struct library *out);
const char *open_xsmm(void *handle, struct library *out);

#endif
