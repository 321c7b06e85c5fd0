/* Functions of one's own, good and bad, as somebody might write them. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gemm is right: o = a b. */
void gemm(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	memset(o, 0, m * n * sizeof *o);
	for (int64_t i = 0; i < m; i++)
		for (int64_t l = 0; l < k; l++)
			for (int64_t j = 0; j < n; j++)
				o[i * n + j] += a[i * k + l] * b[l * n + j];
}

/* integers takes int where others take int64_t. */
void integers(int m, int k, int n, const int8_t *a, const int8_t *b, int32_t *o) {
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			int32_t sum = 0;
			for (int l = 0; l < k; l++)
				sum += a[i * k + l] * b[l * n + j];
			o[i * n + j] = sum;
		}
}

/* short_of leaves the last column as it was. */
void short_of(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n - 1; j++) {
			float sum = 0;
			for (int64_t l = 0; l < k; l++)
				sum += a[i * k + l] * b[l * n + j];
			o[i * n + j] = sum;
		}
}

void swapped(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	gemm(m, k, n, a, b, o);
	float first = o[0];
	o[0] = o[1], o[1] = first;
}

void nothing(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {}

void crashes(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	*(volatile float *)8 = 1;
}

void ends(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	write(2, "no licence found\n", 17);
	exit(3);
}

void hangs(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	for (;;)
		pause();
}

/* threads computes only if it was told how many threads to use. */
void threads(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	const char *said = getenv("OMP_NUM_THREADS");
	if (said && !strcmp(said, "3"))
		gemm(m, k, n, a, b, o);
}

static void hidden(void) {}
void (*keep)(void) = hidden;
