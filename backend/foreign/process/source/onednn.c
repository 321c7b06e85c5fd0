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
#include <string.h>

enum { CPU = 1, DEFAULT_STREAM = 1, QUERY_IMPLEMENTATION = 8, BINARY_MUL = 0x1fff1 };
enum { DT_F16 = 1, DT_BF16 = 2, DT_F32 = 3, DT_S32 = 4, DT_S8 = 5, DT_U8 = 6 };
enum { QUERY_WEIGHTS = 131, LAYOUT_ANY = 1, ARG_FROM = 1, ARG_TO = 17 };
enum { ARG_SRC = 1, ARG_SRC_1 = 2, ARG_DST = 17, ARG_WEIGHTS = 33 };
enum { ARG_SCALES = 4096, ARG_ZERO_POINTS = 8192, ARG_POST_OP = 32768, ARG_POST_OP_2 = 16384 }; /* _2: of version 2 */

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
static int (*primitive_desc_query)(const void *, int, int, void *);
static int (*primitive_attr_create)(void **);
static int (*post_ops_create)(void **);
static int (*post_ops_append_binary)(void *, int, const void *);
static int (*primitive_attr_set_post_ops)(void *, const void *);

/* version 3 */
static int (*md_create)(void **, int, const int64_t *, int, const int64_t *);
static int (*matmul_pd_create)(void **, void *, const void *, const void *, const void *, const void *, const void *);
static int (*primitive_attr_set_scales_mask)(void *, int, int);
static int (*primitive_attr_set_zero_points_mask)(void *, int, int);

/* a b in the layout that the product likes best, version 3 */
static int (*md_any_create)(void **, int, const int64_t *, int, int);
static const void *(*primitive_desc_query_md)(const void *, int, int);
static size_t (*memory_desc_get_size)(const void *);
static int (*reorder_primitive_desc_create)(void **, const void *, void *, const void *, void *, const void *);

/* version 2 */
static int (*md_init)(void *, int, const int64_t *, int, const int64_t *);
static int (*matmul_desc_init)(void *, const void *, const void *, const void *, const void *);
static int (*pd_create)(void **, const void *, const void *, void *, const void *);
static int (*primitive_attr_set_output_scales)(void *, int64_t, int, const float *);
static int (*primitive_attr_set_zero_points)(void *, int, int64_t, int, const int32_t *);

struct state {
	void *stream, *primitive;
	struct arg args[6];
	int count;  /* of args */
	int failed; /* something on the way here */
	void *reorder;               /* lays b out; NULL if launches read it as it lies */
	struct arg reorder_args[2];
};

static void *engine;

static const struct { int a, b, o; } dtypes[FORMS] = {
	[F32] = {DT_F32, DT_F32, DT_F32},           [BF16_F32] = {DT_BF16, DT_BF16, DT_F32},
	[F16_F32] = {DT_F16, DT_F16, DT_F32},       [F16_F16] = {DT_F16, DT_F16, DT_F16},
	[BF16_BF16] = {DT_BF16, DT_BF16, DT_BF16},  [S8_S32] = {DT_S8, DT_S8, DT_S32},
	[U8_S32] = {DT_U8, DT_S8, DT_S32},          [S8_F32] = {DT_S8, DT_S8, DT_F32},
	[S8_BF16] = {DT_S8, DT_S8, DT_BF16},        [U8_F32] = {DT_U8, DT_S8, DT_F32},
	[U8_BF16] = {DT_U8, DT_S8, DT_BF16},
};

/* descriptor describes a row-major matrix, of ndims dimensions the last two; NULL
 * if that fails. A vector has one dimension, its columns. */
static void *descriptor(int ndims, int batch, int rows, int columns, int dtype) {
	const int64_t all[] = {batch, rows, columns}, steps[] = {(int64_t)rows * columns, columns, 1};
	const int64_t *dims = all + 3 - ndims, *strides = steps + 3 - ndims;
	void *md = NULL;
	if (md_create)
		return md_create(&md, ndims, dims, dtype, strides) ? NULL : md;
	md = calloc(1, 1 << 16);
	return md && !md_init(md, ndims, dims, dtype, strides) ? md : NULL;
}

/* pass makes an array an argument of the product. */
static void pass(struct state *s, int which, const void *md, const void *array) {
	struct arg *arg = &s->args[s->count++];
	arg->which = which;
	s->failed |= !md || memory_create(&arg->memory, md, engine, (void *)array);
}

/* scaled makes the attributes that apply the scales of p, and 128 as the zero point
 * of an unsigned a. Rows are scaled by a multiplication behind the product: an
 * attribute with a scale for each leaves it to the reference code. Version 2 knows
 * one set of scales, of the output, and must know their values now. */
static void *scaled(const struct product *p, struct state *s, int ndims) {
	static const int32_t middle = 128;
	int by_row = p->scales_a > 1, columns = p->scales_b > 1 ? 1 << (ndims - 1) : 0;
	void *attr = NULL, *post = NULL;
	if (primitive_attr_create(&attr))
		return NULL;
	if (matmul_pd_create) {
		s->failed |= primitive_attr_set_scales_mask(attr, ARG_WEIGHTS, columns);
		pass(s, ARG_SCALES | ARG_WEIGHTS, descriptor(1, 1, 1, p->scales_b, DT_F32), p->sb);
		if (!by_row) {
			s->failed |= primitive_attr_set_scales_mask(attr, ARG_SRC, 0);
			pass(s, ARG_SCALES | ARG_SRC, descriptor(1, 1, 1, 1, DT_F32), p->sa);
		}
	} else {
		float *both = malloc(p->scales_b * sizeof *both);
		for (int j = 0; both && j < p->scales_b; j++)
			both[j] = by_row ? p->sb[j] : p->sa[0] * p->sb[j];
		s->failed |= !both || primitive_attr_set_output_scales(attr, p->scales_b, columns, both);
		free(both);
	}
	if (dtypes[p->form].a == DT_U8 && matmul_pd_create) {
		s->failed |= primitive_attr_set_zero_points_mask(attr, ARG_SRC, 0);
		pass(s, ARG_ZERO_POINTS | ARG_SRC, descriptor(1, 1, 1, 1, DT_S32), &middle);
	} else if (dtypes[p->form].a == DT_U8) {
		s->failed |= primitive_attr_set_zero_points(attr, ARG_SRC, 1, 0, &middle);
	}
	if (by_row) {
		void *md = descriptor(ndims, p->batch, p->m, 1, DT_F32);
		s->failed |= post_ops_create(&post) || post_ops_append_binary(post, BINARY_MUL, md) || primitive_attr_set_post_ops(attr, post);
		pass(s, (matmul_pd_create ? ARG_POST_OP : ARG_POST_OP_2) | ARG_SRC_1, md, p->sa);
	}
	return attr;
}

/* describe makes the descriptor of the product. */
static int describe(void **pd, const void *a, const void *b, const void *o, const void *attr) {
	if (matmul_pd_create)
		return matmul_pd_create(pd, engine, a, b, NULL, o, attr);
	static char desc[1 << 16];
	int status = matmul_desc_init(desc, a, b, NULL, o);
	return status ? status : pd_create(pd, desc, attr, engine, NULL);
}

/* reference tells whether oneDNN would compute the product by the code that is
 * there to test the other: it takes hundreds of times as long. */
static int reference(const void *pd) {
	const char *name = "";
	return !primitive_desc_query(pd, QUERY_IMPLEMENTATION, 0, &name) && !strncmp(name, "ref", 3);
}

/* packed makes the reorder that brings b into the layout that pd wants. */
static int packed(const struct product *p, struct state *s, const void *pd, const void *plain) {
	const void *wanted = primitive_desc_query_md(pd, QUERY_WEIGHTS, 0);
	void *rpd = NULL, *memory = wanted ? aligned_alloc(2 << 20, (memory_desc_get_size(wanted) + (2 << 20)) >> 21 << 21) : NULL;
	if (!memory)
		return 1;
	pass(s, ARG_WEIGHTS, wanted, memory);
	s->reorder_args[0].which = ARG_FROM;
	s->reorder_args[1].which = ARG_TO;
	s->reorder_args[1].memory = s->args[s->count - 1].memory;
	return s->failed || memory_create(&s->reorder_args[0].memory, plain, engine, p->b) ||
		reorder_primitive_desc_create(&rpd, plain, engine, wanted, engine, NULL) || primitive_create(&s->reorder, rpd);
}

static const char *prepare(struct product *p, int *unsupported) {
	struct state *s = calloc(1, sizeof *s);
	/* In a batch, of one, the rows of the output have a dimension of their own to be
	 * scaled along; without it oneDNN has only its reference code for that. */
	int ndims = p->scales_a > 1 || p->batch > 1 ? 3 : 2;
	void *a = descriptor(ndims, p->batch, p->m, p->k, dtypes[p->form].a);
	void *b = descriptor(ndims, p->batch, p->k, p->n, dtypes[p->form].b);
	void *o = descriptor(ndims, p->batch, p->m, p->n, dtypes[p->form].o);
	void *pd = NULL, *attr = NULL;
	if (!s || !a || !b || !o)
		return "oneDNN refuses to describe a matrix";
	void *plain = b;
	if (p->packed) {
		const int64_t dims[] = {p->k, p->n};
		if (ndims != 2 || md_any_create(&b, ndims, dims, dtypes[p->form].b, LAYOUT_ANY))
			return "oneDNN refuses a b of any layout";
	}
	pass(s, ARG_SRC, a, p->a);
	if (!p->packed)
		pass(s, ARG_WEIGHTS, b, p->b);
	pass(s, ARG_DST, o, p->o);
	if (p->form >= SCALED && (!(attr = scaled(p, s, ndims)) || s->failed))
		return "oneDNN refuses the scales";
	if (describe(&pd, a, b, o, attr)) {
		*unsupported = 1;
		return "oneDNN has no product of these dtypes on this machine";
	}
	if (p->form >= SCALED && reference(pd)) {
		*unsupported = 1;
		return "oneDNN has only its reference code for these dtypes and scales on this machine";
	}
	if (p->packed && packed(p, s, pd, plain))
		return "oneDNN refuses to lay b out ahead of products";
	if (s->failed || stream_create(&s->stream, engine, DEFAULT_STREAM) || primitive_create(&s->primitive, pd))
		return "oneDNN refuses to make the product";
	p->state = s;
	return NULL;
}

/* again makes the product anew, with the values of scales that have come. */
static const char *again(struct product *p) {
	int unsupported;
	return p->form >= SCALED ? prepare(p, &unsupported) : NULL;
}

/* loaded lays b out, if that is asked for. */
static const char *loaded(struct product *p) {
	struct state *s = p->state;
	if (s->reorder && (primitive_execute(s->reorder, s->stream, 2, s->reorder_args) || stream_wait(s->stream)))
		return "oneDNN reports an error where it lays b out";
	return NULL;
}

static const char *launch(struct product *p) {
	struct state *s = p->state;
	if (primitive_execute(s->primitive, s->stream, s->count, s->args) || stream_wait(s->stream))
		return "oneDNN reports an error of the product";
	return NULL;
}

const char *open_onednn(void *handle, struct library *out) {
	static char version[64];
#define FIND(f) *(void **)&f = dlsym(handle, "dnnl_" #f)
	*(void **)&get_version = dlsym(handle, "dnnl_version");
	*(void **)&md_create = dlsym(handle, "dnnl_memory_desc_create_with_strides");
	*(void **)&md_init = dlsym(handle, "dnnl_memory_desc_init_by_strides");
	*(void **)&md_any_create = dlsym(handle, "dnnl_memory_desc_create_with_tag");
	*(void **)&matmul_pd_create = dlsym(handle, "dnnl_matmul_primitive_desc_create");
	*(void **)&pd_create = dlsym(handle, "dnnl_primitive_desc_create");
	FIND(engine_create);
	FIND(stream_create);
	FIND(stream_wait);
	FIND(memory_create);
	FIND(primitive_desc_query_md);
	FIND(memory_desc_get_size);
	FIND(reorder_primitive_desc_create);
	FIND(primitive_create);
	FIND(primitive_execute);
	FIND(primitive_desc_query);
	FIND(primitive_attr_create);
	FIND(post_ops_create);
	FIND(post_ops_append_binary);
	FIND(primitive_attr_set_post_ops);
	FIND(primitive_attr_set_scales_mask);
	FIND(primitive_attr_set_zero_points_mask);
	FIND(matmul_desc_init);
	FIND(primitive_attr_set_output_scales);
	FIND(primitive_attr_set_zero_points);
#undef FIND
	int newer = md_create && matmul_pd_create, older = md_init && matmul_desc_init && pd_create;
	if (!get_version || !engine_create || !stream_create || !stream_wait || !memory_create || !primitive_create ||
		!primitive_execute || !(newer || older))
		return "the library is no oneDNN of version 2 or 3";
	if (engine_create(&engine, CPU, 0))
		return "oneDNN finds no CPU to compute on";
	int scales = primitive_desc_query && primitive_attr_create && post_ops_create && post_ops_append_binary && primitive_attr_set_post_ops &&
		(newer ? primitive_attr_set_scales_mask && primitive_attr_set_zero_points_mask
		       : primitive_attr_set_output_scales && primitive_attr_set_zero_points);
	const struct version *v = get_version();
	snprintf(version, sizeof version, "%d.%d.%d", v->major, v->minor, v->patch);
	out->version = version;
	for (int f = 0; f < FORMS; f++)
		out->has[f] = f < SCALED || scales; /* prepare tells for good */
	for (int f = 0; f < SCALED; f++)
		out->packs[f] = newer && md_any_create && primitive_desc_query_md && memory_desc_get_size && reorder_primitive_desc_create;
	out->prepare = prepare;
	out->loaded = newer ? loaded : again;
	out->launch = launch;
	return NULL;
}
