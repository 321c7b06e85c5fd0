/* LIBXSMM 1.17: kernels that it writes for one shape each, float32, called for
 * each product on the thread of the caller. Declared here, as for the others. */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <stdio.h>

enum { ASK_FOR_NEXT = 4 }; /* the best of its ways of prefetching for products of 48 and more, and as good as none below */

/* Column-major: what is row-major here is transposed, so the operands change places. The last
 * three are of the product that comes next. */
typedef void kernel(const float *b, const float *a, float *o, const float *next_b, const float *next_a, const float *next_o);

static kernel *(*dispatch)(int n, int m, int k, const int *ldb, const int *lda, const int *ldo, const float *alpha,
	const float *beta, const int *flags, const int *prefetch);

static const char *prepare(struct product *p, int *unsupported) {
	const float one = 1, zero = 0;
	const int next = p->batch > 1 ? ASK_FOR_NEXT : 0;
	p->state = (void *)dispatch(p->n, p->m, p->k, &p->n, &p->k, &p->n, &one, &zero, NULL, &next);
	*unsupported = !p->state;
	return p->state ? NULL : "the library writes no kernel for this shape";
}

static const char *launch(struct product *p) {
	const float *a = p->a, *b = p->b;
	float *o = p->o;
	const size_t step_a = (size_t)p->m * p->k, step_b = (size_t)p->k * p->n, step_o = (size_t)p->m * p->n;
	kernel *const f = (kernel *)p->state;
	for (int left = p->batch; left > 1; left--, a += step_a, b += step_b, o += step_o)
		f(b, a, o, b + step_b, a + step_a, o + step_o);
	f(b, a, o, b, a, o);
	return NULL;
}

const char *open_xsmm(void *handle, struct library *out) {
	static char text[64];
	*(void **)&dispatch = dlsym(handle, "libxsmm_smmdispatch");
	const char *(*arch)(void) = (const char *(*)(void))dlsym(handle, "libxsmm_get_target_arch");
	if (!dispatch || !arch)
		return "the library has no libxsmm_smmdispatch; LIBXSMM 1.17 does";
	snprintf(text, sizeof text, "1 %s", arch());
	out->version = text;
	out->has[F32] = 1;
	out->prepare = prepare;
	out->launch = launch;
	return NULL;
}
