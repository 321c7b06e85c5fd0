/* Libraries with the C interface of BLAS, and what some of them add to it:
 * OpenBLAS, BLIS, MKL. Declared here, so that no header need be installed. */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, PACKED = 151, MATRIX_B = 162, FIXED_OFFSET = 173 };

typedef void sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc);
typedef void sbgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const uint16_t *a, int lda,
	const uint16_t *b, int ldb, float beta, float *c, int ldc);
/* In row-major order, a is unsigned and b signed. */
typedef void s8u8s32(int order, int ta, int tb, int offset, int m, int n, int k, float alpha, const void *a, int lda,
	int8_t ao, const void *b, int ldb, int8_t bo, float beta, int32_t *c, int ldc, const int32_t *co);

static sgemm *f32;
static sbgemm *bf16, *f16; /* MKL's cblas_hgemm, which sums in float16, is another product */
static s8u8s32 *u8;

/* Products that follow each other; libraries without are called for each. */
static void (*f32_batch)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, int step_a,
	const float *b, int ldb, int step_b, float beta, float *c, int ldc, int step_c, int batch);

/* What MKL packs b with ahead of products. */
static size_t (*f32_size)(int which, int m, int n, int k);
static void (*f32_pack)(int order, int which, int t, int m, int n, int k, float alpha, const float *from, int ld, float *to);
static void (*f32_compute)(int order, int ta, int tb, int m, int n, int k, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
static size_t (*bf16_size)(int which, int m, int n, int k);
static void (*bf16_pack)(int order, int which, int t, int m, int n, int k, const uint16_t *from, int ld, uint16_t *to);
static sbgemm *bf16_compute;

static const char *prepare(struct product *p, int *unsupported) {
	(void)unsupported;
	if (p->packed) {
		size_t bytes = p->form == F32 ? f32_size(MATRIX_B, p->m, p->n, p->k) : bf16_size(MATRIX_B, p->m, p->n, p->k);
		p->state = aligned_alloc(64, (bytes + 63) / 64 * 64);
		if (!p->state)
			return "no memory for a packed b";
	}
	return NULL;
}

/* loaded packs b. */
static const char *loaded(struct product *p) {
	if (p->packed && p->form == F32)
		f32_pack(ROW_MAJOR, MATRIX_B, NO_TRANS, p->m, p->n, p->k, 1, p->b, p->n, p->state);
	else if (p->packed)
		bf16_pack(ROW_MAJOR, MATRIX_B, NO_TRANS, p->m, p->n, p->k, p->b, p->n, p->state);
	return NULL;
}

static const char *one(struct product *p, const void *a, const void *b, void *o) {
	int m = p->m, k = p->k, n = p->n;
	const int32_t zero = 0;
	if (p->packed && p->form == F32) {
		f32_compute(ROW_MAJOR, NO_TRANS, PACKED, m, n, k, p->a, k, p->state, n, 0, p->o, n);
		return NULL;
	}
	if (p->packed) {
		bf16_compute(ROW_MAJOR, NO_TRANS, PACKED, m, n, k, 1, p->a, k, p->state, n, 0, p->o, n);
		return NULL;
	}
	switch (p->form) {
	case F32:
		f32(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, o, n);
		return NULL;
	case BF16_F32:
		bf16(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, o, n);
		return NULL;
	case F16_F32:
		f16(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, k, b, n, 0, o, n);
		return NULL;
	case U8_S32:
		u8(ROW_MAJOR, NO_TRANS, NO_TRANS, FIXED_OFFSET, m, n, k, 1, a, k, 0, b, n, 0, 0, o, n, &zero);
		return NULL;
	default:
		return "no such product";
	}
}

static const char *launch(struct product *p) {
	int m = p->m, k = p->k, n = p->n;
	if (p->form == F32 && p->batch > 1 && f32_batch) {
		f32_batch(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, p->a, k, m * k, p->b, n, k * n, 0, p->o, n, m * n, p->batch);
		return NULL;
	}
	const struct elements *of = &forms[p->form];
	const char *why = NULL;
	for (size_t i = 0; i < (size_t)p->batch && !why; i++)
		why = one(p, (char *)p->a + i * m * k * of->a, (char *)p->b + i * k * n * of->b, (char *)p->o + i * m * n * of->o);
	return why;
}

/* symbol finds the first of two names, the second may be NULL. */
static void *symbol(void *handle, const char *name, const char *other) {
	void *f = dlsym(handle, name);
	return f || !other ? f : dlsym(handle, other);
}

/* version asks each library in its own way, and which cores it thinks it has. */
static const char *version(void *handle) {
	static char text[256];
	char *(*config)(void) = (char *(*)(void))symbol(handle, "openblas_get_config", "scipy_openblas_get_config");
	char *(*core)(void) = (char *(*)(void))symbol(handle, "openblas_get_corename", "scipy_openblas_get_corename");
	if (config && core) { /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
		char number[64] = "";
		sscanf(config(), "OpenBLAS %63s", number);
		snprintf(text, sizeof text, "%s %s", number, core());
		return text;
	}
	void (*mkl)(char *, int) = (void (*)(char *, int))dlsym(handle, "MKL_Get_Version_String");
	if (mkl) { /* "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build ..." */
		char line[256] = "";
		mkl(line, sizeof line - 1);
		const char *number = strstr(line, "Version ");
		snprintf(text, sizeof text, "%s", number ? number + strlen("Version ") : line);
		text[strcspn(text, "- ")] = 0;
		return text;
	}
	char *(*blis)(void) = (char *(*)(void))dlsym(handle, "bli_info_get_version_str");
	int (*id)(void) = (int (*)(void))symbol(handle, "bli_arch_query_id", "bli_cpuid_query_id");
	char *(*arch)(int) = (char *(*)(int))dlsym(handle, "bli_arch_string");
	if (blis) {
		snprintf(text, sizeof text, "%s %s", blis(), id && arch ? arch(id()) : "");
		return text;
	}
	return "unknown";
}

const char *open_cblas(void *handle, struct library *out) {
	f32 = (sgemm *)symbol(handle, "cblas_sgemm", "scipy_cblas_sgemm");
	bf16 = (sbgemm *)symbol(handle, "cblas_gemm_bf16bf16f32", "cblas_sbgemm");
	if (!bf16)
		bf16 = (sbgemm *)dlsym(handle, "scipy_cblas_sbgemm");
	f16 = (sbgemm *)dlsym(handle, "cblas_gemm_f16f16f32");
	u8 = (s8u8s32 *)dlsym(handle, "cblas_gemm_s8u8s32");
	if (!f32)
		return "the library has no cblas_sgemm";
	out->version = version(handle);
	out->has[F32] = 1;
	out->has[BF16_F32] = bf16 != NULL;
	out->has[F16_F32] = f16 != NULL;
	out->has[U8_S32] = u8 != NULL;
	*(void **)&f32_batch = symbol(handle, "cblas_sgemm_batch_strided", "scipy_cblas_sgemm_batch_strided");
	*(void **)&f32_size = dlsym(handle, "cblas_sgemm_pack_get_size");
	*(void **)&f32_pack = dlsym(handle, "cblas_sgemm_pack");
	*(void **)&f32_compute = dlsym(handle, "cblas_sgemm_compute");
	*(void **)&bf16_size = dlsym(handle, "cblas_gemm_bf16bf16f32_pack_get_size");
	*(void **)&bf16_pack = dlsym(handle, "cblas_gemm_bf16bf16f32_pack");
	bf16_compute = (sbgemm *)dlsym(handle, "cblas_gemm_bf16bf16f32_compute");
	out->packs[F32] = f32_size && f32_pack && f32_compute;
	out->packs[BF16_F32] = bf16_size && bf16_pack && bf16_compute;
	out->loaded = loaded;
	out->prepare = prepare;
	out->launch = launch;
	return NULL;
}
