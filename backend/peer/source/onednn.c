/* oneDNN of versions 2 and 3, through its C interface. Declared here, so that no
 * header need be installed: everything is a pointer but for a few constants, and
 * the descriptors of version 2, which are structures that the caller owns, are
 * given more room than they take. */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU = 1, DEFAULT_STREAM = 1 };
enum { DT_BF16 = 2, DT_F32 = 3, DT_S32 = 4, DT_S8 = 5, DT_U8 = 6 };
enum { ARG_SRC = 1, ARG_DST = 17, ARG_WEIGHTS = 33 };

struct arg {
	int which;
	void *memory;
};

struct version {
	int major, minor, patch;
};

static const struct version *(*get_version)(void);
static int (*engine_create)(void **, int, size_t);
static int (*stream_create)(void **, void *, unsigned);
static int (*stream_wait)(void *);
static int (*memory_create)(void **, const void *, void *, void *);
static int (*primitive_create)(void **, const void *);
static int (*primitive_execute)(const void *, void *, int, const struct arg *);

/* version 3 */
static int (*md_create)(void **, int, const int64_t *, int, const int64_t *);
static int (*matmul_pd_create)(void **, void *, const void *, const void *, const void *, const void *, const void *);

/* version 2 */
static int (*md_init)(void *, int, const int64_t *, int, const int64_t *);
static int (*matmul_desc_init)(void *, const void *, const void *, const void *, const void *);
static int (*pd_create)(void **, const void *, const void *, void *, const void *);

struct state {
	void *stream, *primitive;
	struct arg args[3];
};

static void *engine;

/* descriptor describes a row-major matrix; NULL if that fails. */
static void *descriptor(int rows, int columns, int dtype) {
	const int64_t dims[] = {rows, columns}, strides[] = {columns, 1};
	void *md = NULL;
	if (md_create)
		return md_create(&md, 2, dims, dtype, strides) ? NULL : md;
	md = calloc(1, 1 << 16);
	return md && !md_init(md, 2, dims, dtype, strides) ? md : NULL;
}

/* describe makes the descriptor of the product. */
static int describe(void **pd, const void *a, const void *b, const void *o) {
	if (matmul_pd_create)
		return matmul_pd_create(pd, engine, a, b, NULL, o, NULL);
	static char desc[1 << 16];
	int status = matmul_desc_init(desc, a, b, NULL, o);
	return status ? status : pd_create(pd, desc, NULL, engine, NULL);
}

static const char *prepare(struct product *p, int *unsupported) {
	static const struct { int a, b, o; } dtypes[FORMS] = {
		[F32] = {DT_F32, DT_F32, DT_F32},         [BF16_F32] = {DT_BF16, DT_BF16, DT_F32},
		[BF16_BF16] = {DT_BF16, DT_BF16, DT_BF16}, [S8_S32] = {DT_S8, DT_S8, DT_S32},
		[U8_S32] = {DT_U8, DT_S8, DT_S32},
	};
	struct state *s = calloc(1, sizeof *s);
	void *a = descriptor(p->m, p->k, dtypes[p->form].a);
	void *b = descriptor(p->k, p->n, dtypes[p->form].b);
	void *o = descriptor(p->m, p->n, dtypes[p->form].o);
	void *pd = NULL;
	if (!s || !a || !b || !o)
		return "oneDNN refuses to describe a matrix";
	if (describe(&pd, a, b, o)) {
		*unsupported = 1;
		return "oneDNN has no product of these dtypes on this machine";
	}
	s->args[0].which = ARG_SRC, s->args[1].which = ARG_WEIGHTS, s->args[2].which = ARG_DST;
	if (stream_create(&s->stream, engine, DEFAULT_STREAM) || primitive_create(&s->primitive, pd) ||
		memory_create(&s->args[0].memory, a, engine, p->a) || memory_create(&s->args[1].memory, b, engine, p->b) ||
		memory_create(&s->args[2].memory, o, engine, p->o))
		return "oneDNN refuses to make the product";
	p->state = s;
	return NULL;
}

static const char *launch(struct product *p) {
	struct state *s = p->state;
	if (primitive_execute(s->primitive, s->stream, 3, s->args) || stream_wait(s->stream))
		return "oneDNN reports an error of the product";
	return NULL;
}

const char *open_onednn(void *handle, struct library *out) {
	static char version[64];
#define FIND(f) *(void **)&f = dlsym(handle, "dnnl_" #f)
	*(void **)&get_version = dlsym(handle, "dnnl_version");
	*(void **)&md_create = dlsym(handle, "dnnl_memory_desc_create_with_strides");
	*(void **)&md_init = dlsym(handle, "dnnl_memory_desc_init_by_strides");
	*(void **)&matmul_pd_create = dlsym(handle, "dnnl_matmul_primitive_desc_create");
	*(void **)&pd_create = dlsym(handle, "dnnl_primitive_desc_create");
	FIND(engine_create);
	FIND(stream_create);
	FIND(stream_wait);
	FIND(memory_create);
	FIND(primitive_create);
	FIND(primitive_execute);
	FIND(matmul_desc_init);
#undef FIND
	int newer = md_create && matmul_pd_create, older = md_init && matmul_desc_init && pd_create;
	if (!get_version || !engine_create || !stream_create || !stream_wait || !memory_create || !primitive_create ||
		!primitive_execute || !(newer || older))
		return "the library is no oneDNN of version 2 or 3";
	if (engine_create(&engine, CPU, 0))
		return "oneDNN finds no CPU to compute on";
	const struct version *v = get_version();
	snprintf(version, sizeof version, "%d.%d.%d", v->major, v->minor, v->patch);
	out->version = version;
	for (int f = 0; f < FORMS; f++)
		out->has[f] = 1; /* prepare tells for good */
	out->prepare = prepare;
	out->launch = launch;
	return NULL;
}
