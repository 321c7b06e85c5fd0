/* As much of oneDNN 3 as products of int8 with scales need, one element after the
 * other. It has no product if STANDIN is "none", and computes by what it calls its
 * reference code if that is "reference". */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BF16 = 2, F32 = 3, S32 = 4, S8 = 5, U8 = 6 };
enum { SRC = 1, DST = 17, WEIGHTS = 33, SCALES = 4096, ZERO = 8192, FACTOR = 32768 | 2 };

struct md {
	int ndims, dtype;
	int64_t dims[3];
};
struct memory {
	struct md md;
	void *data;
};
struct attr {
	int by_weights, by_src, zero; /* 1 + mask; 0 if not set */
	struct md *factor;
};
struct product {
	struct md a, b, o;
	struct attr attr;
};
struct arg {
	int which;
	struct memory *memory;
};

static int is(const char *what) {
	const char *s = getenv("STANDIN");
	return s && !strcmp(s, what);
}

const int *dnnl_version(void) {
	static const int version[] = {3, 0, 0};
	return version;
}
int dnnl_engine_create(void **e, int kind, size_t index) { return *e = malloc(1), kind != 1 || index; }
int dnnl_stream_create(void **s, void *engine, unsigned flags) { return *s = malloc(1), !engine || flags != 1; }
int dnnl_stream_wait(void *s) { return !s; }

int dnnl_memory_desc_create_with_strides(struct md **out, int ndims, const int64_t *dims, int dtype, const int64_t *strides) {
	struct md *md = *out = calloc(1, sizeof *md);
	int64_t step = 1;
	md->ndims = ndims, md->dtype = dtype;
	for (int i = ndims - 1; i >= 0; step *= dims[i--]) {
		if (strides[i] != step)
			abort(); /* row-major alone */
		md->dims[i] = dims[i];
	}
	return 0;
}
int dnnl_memory_create(struct memory **out, const struct md *md, void *engine, void *data) {
	*out = calloc(1, sizeof **out);
	(*out)->md = *md, (*out)->data = data;
	return !engine;
}

int dnnl_primitive_attr_create(struct attr **out) { return *out = calloc(1, sizeof **out), 0; }
int dnnl_primitive_attr_set_scales_mask(struct attr *a, int arg, int mask) {
	return *(arg == WEIGHTS ? &a->by_weights : &a->by_src) = 1 + mask, arg != WEIGHTS && arg != SRC;
}
int dnnl_primitive_attr_set_zero_points_mask(struct attr *a, int arg, int mask) { return a->zero = 1 + mask, arg != SRC; }
int dnnl_post_ops_create(struct md ***out) { return *out = calloc(1, sizeof **out), 0; }
int dnnl_post_ops_append_binary(struct md **post, int kind, struct md *md) { return *post = md, kind != 0x1fff1; }
int dnnl_primitive_attr_set_post_ops(struct attr *a, struct md **post) { return a->factor = *post, 0; }

int dnnl_matmul_primitive_desc_create(struct product **out, void *engine, const struct md *a, const struct md *b, const void *bias,
	const struct md *o, const struct attr *attr) {
	struct product *p = *out = calloc(1, sizeof *p);
	p->a = *a, p->b = *b, p->o = *o;
	if (attr)
		p->attr = *attr;
	return !engine || bias || b->dtype != S8 || is("none");
}
int dnnl_primitive_desc_query(const struct product *p, int what, int index, const char **out) {
	return *out = is("reference") ? "ref_int8:any" : "standin", !p || what != 8 || index;
}
int dnnl_primitive_create(struct product **out, struct product *p) { return *out = p, 0; }

/* find returns the data of an argument, which must have a number of elements. */
static void *find(int n, const struct arg *args, int which, int64_t elements) {
	for (int i = 0; i < n; i++) {
		if (args[i].which != which)
			continue;
		for (int d = 0; d < args[i].memory->md.ndims; d++)
			elements /= args[i].memory->md.dims[d];
		if (elements != 1)
			abort();
		return args[i].memory->data;
	}
	abort();
}

int dnnl_primitive_execute(const struct product *p, void *stream, int n, const struct arg *args) {
	int last = p->o.ndims - 1;
	int64_t rows = p->o.dims[last - 1], columns = p->o.dims[last], k = p->a.dims[last];
	const struct attr *t = &p->attr;
	const int8_t *a = find(n, args, SRC, rows * k), *b = find(n, args, WEIGHTS, k * columns);
	void *o = find(n, args, DST, rows * columns);
	int each = t->by_weights == 1 + (1 << last);
	if (!stream || t->by_src > 1 || t->zero > 1 || (t->by_weights > 1 && !each) || (last == 2 && p->o.dims[0] != 1))
		abort();
	const float *sb = t->by_weights ? find(n, args, SCALES | WEIGHTS, each ? columns : 1) : NULL;
	const float *sa = t->by_src ? find(n, args, SCALES | SRC, 1) : NULL;
	const int32_t *zero = t->zero ? find(n, args, ZERO | SRC, 1) : NULL;
	const float *factor = t->factor ? find(n, args, FACTOR, rows) : NULL;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++) {
			int32_t sum = 0;
			for (int64_t l = 0; l < k; l++)
				sum += ((p->a.dtype == U8 ? (uint8_t)a[i * k + l] : a[i * k + l]) - (zero ? *zero : 0)) * b[l * columns + j];
			float x = sum * (sa ? *sa : 1) * (sb ? sb[each ? j : 0] : 1) * (factor ? factor[i] : 1);
			uint32_t bits;
			memcpy(&bits, &x, 4);
			if (p->o.dtype == S32)
				((int32_t *)o)[i * columns + j] = sum;
			else if (p->o.dtype == F32)
				((float *)o)[i * columns + j] = x;
			else
				((uint16_t *)o)[i * columns + j] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
		}
	return 0;
}
