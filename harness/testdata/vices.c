/* Two products, as a library (cblas_sgemm) and as a function of one's own (own_gemm), that
   go wrong in launches as VICES says: a letter for each of the first 200 calls, of which
   the last 100 come again and again: r is right, i returns at once, w is wrong. */
#include <stdint.h>
#include <stdlib.h>

const char *openblas_get_config(void) { return "OpenBLAS 0.0.0 VICES"; }
const char *openblas_get_corename(void) { return "vices"; }

static void product(long m, long k, long n, const float *a, const float *b, float *o) {
	static long calls;
	const char *vices = getenv("VICES");
	long at = calls++;
	char vice = vices[at < 200 ? at : 100 + at % 100];
	if (vice == 'i')
		return;
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++) {
			float sum = 0;
			for (long l = 0; l < k; l++)
				sum += a[i * k + l] * b[l * n + j];
			o[i * n + j] = sum;
		}
	if (vice == 'w')
		o[0] = -o[0] + 1;
}

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
	int ldb, float beta, float *c, int ldc) {
	product(m, k, n, a, b, c);
}

void own_gemm(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) { product(m, k, n, a, b, o); }
