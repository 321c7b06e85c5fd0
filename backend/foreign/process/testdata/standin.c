/* A library of a cblas_sgemm that is right, or misbehaves as STANDIN says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *openblas_get_config(void) { return "OpenBLAS 0.0.0 STANDIN"; }
const char *openblas_get_corename(void) { return "standin"; }

static int is(const char *what) {
	const char *s = getenv("STANDIN");
	return s && !strcmp(s, what);
}

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
	int ldb, float beta, float *c, int ldc) {
	static int calls;
	if (order != 101 || ta != 111 || tb != 111 || alpha != 1 || beta != 0)
		abort();
	printf("something a library prints\nok 1\n");
	fflush(stdout);
	if (is("nothing"))
		return;
	if (is("crash") && ++calls > 2) {
		fprintf(stderr, "bad kernel\n");
		raise(SIGSEGV);
	}
	if (is("hang") && ++calls > 2)
		for (;;)
			pause();
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			float sum = 0;
			for (int l = 0; l < k; l++)
				sum += a[(long)i * lda + l] * b[(long)l * ldb + j];
			c[(long)i * ldc + j] = sum;
		}
	if (is("wrong"))
		c[0] = -c[0] + 1;
}

/* In row-major order, a is unsigned and b signed. */
void cblas_gemm_s8u8s32(int order, int ta, int tb, int offset, int m, int n, int k, float alpha, const void *a, int lda,
	signed char ao, const void *b, int ldb, signed char bo, float beta, int *c, int ldc, const int *co) {
	if (order != 101 || ta != 111 || tb != 111 || offset != 173 || alpha != 1 || beta != 0 || ao || bo || *co)
		abort();
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			int sum = 0;
			for (int l = 0; l < k; l++)
				sum += ((const unsigned char *)a)[(long)i * lda + l] * ((const signed char *)b)[(long)l * ldb + j];
			c[(long)i * ldc + j] = sum;
		}
}
