/* What the two halves of the program share: main.c speaks with the parent and
 * takes the time, the others know how a library is asked for a product. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>

/* The forms of a product o (m*n) = a (m*k) @ b (k*n), all row-major. */
enum form {
	F32,       /* float32 x float32 -> float32 */
	BF16_F32,  /* bfloat16 x bfloat16 -> float32 */
	BF16_BF16, /* bfloat16 x bfloat16 -> bfloat16 */
	S8_S32,    /* int8 x int8 -> int32 */
	U8_S32,    /* uint8 x int8 -> int32 */
	FORMS
};

struct product {
	enum form form;
	int m, k, n;
	void *a, *b, *o;
	void *state; /* of the library */
};

/* A library as main.c sees it. Functions that return a text return NULL if all
 * is well, and else why not. */
struct library {
	const char *version;
	int has[FORMS]; /* whether the form may be asked for */
	/* prepare makes p ready to run; *unsupported says that it never will be. */
	const char *(*prepare)(struct product *p, int *unsupported);
	/* launch computes the product once and returns when it is complete. */
	const char *(*launch)(struct product *p);
};

/* Each opens what the handle of a loaded library has. */
const char *open_cblas(void *handle, struct library *out);
const char *open_onednn(void *handle, struct library *out);

#endif
