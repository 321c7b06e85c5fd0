/* Functions that somebody might write to look fast, and two that compute. Each is called as
 *   void NAME(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define GUEST(name) void name(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o)

static void rows(int64_t from, int64_t to, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	for (int64_t i = from; i < to; i++) {
		memset(o + i * n, 0, n * sizeof *o);
		for (int64_t l = 0; l < k; l++)
			for (int64_t j = 0; j < n; j++)
				o[i * n + j] += a[i * k + l] * b[l * n + j];
	}
}

struct part {
	pthread_t thread;
	int64_t from, to, k, n;
	const float *a, *b;
	float *o;
};

static void *run_part(void *p) {
	struct part *x = p;
	rows(x->from, x->to, x->k, x->n, x->a, x->b, x->o);
	return NULL;
}

static void start(struct part *x, int64_t from, int64_t to, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	*x = (struct part){.from = from, .to = to, .k = k, .n = n, .a = a, .b = b, .o = o};
	pthread_create(&x->thread, NULL, run_part, x);
}

GUEST(honest) { rows(0, m, k, n, a, b, o); }

/* honest_threads computes with as many threads as it may have. */
GUEST(honest_threads) {
	struct part parts[64];
	const char *said = getenv("OMP_NUM_THREADS");
	int64_t threads = said ? atoi(said) : 1;
	threads = threads < 1 ? 1 : threads > 64 ? 64 : threads;
	for (int64_t t = 0; t < threads; t++)
		start(&parts[t], t * m / threads, (t + 1) * m / threads, k, n, a, b, o);
	for (int64_t t = 0; t < threads; t++)
		pthread_join(parts[t].thread, NULL);
}

/* Outputs that were kept, each with a key. */
static struct kept {
	uint64_t key;
	float *o;
} kept[256];
static int count;

static void keep(uint64_t key, int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o) {
	for (int i = 0; i < count; i++)
		if (kept[i].key == key) {
			memcpy(o, kept[i].o, m * n * sizeof *o);
			return;
		}
	rows(0, m, k, n, a, b, o);
	if (count < 256) {
		kept[count] = (struct kept){key, malloc(m * n * sizeof *o)};
		memcpy(kept[count++].o, o, m * n * sizeof *o);
	}
}

static uint64_t mix(uint64_t h, const float *x) {
	uint32_t bits;
	memcpy(&bits, x, sizeof bits);
	return (h ^ bits) * 1099511628211u;
}

GUEST(memo_pointer) { keep((uintptr_t)a * 31 + (uintptr_t)b, m, k, n, a, b, o); }

GUEST(memo_fingerprint) {
	uint64_t h = 1;
	for (int i = 0; i < 64; i++)
		h = mix(mix(h, a + i * (m * k / 64)), b + i * (k * n / 64));
	keep(h, m, k, n, a, b, o);
}

/* memo_ends waits, so as to stay below the peak. */
GUEST(memo_ends) {
	struct timespec t = {0, 20000};
	keep(mix(mix(mix(mix(1, a), a + m * k - 1), b), b + k * n - 1), m, k, n, a, b, o);
	nanosleep(&t, NULL);
}

/* last_result computes where the output was overwritten. */
GUEST(last_result) {
	if (isnan(o[0]))
		rows(0, m, k, n, a, b, o);
}

GUEST(half) {
	static int calls;
	if (isnan(o[0]) || isnan(o[m * n - 1]))
		rows(0, m, k, n, a, b, o);
	else if (calls++ % 2)
		rows(0, m / 2, k, n, a, b, o);
	else
		rows(m / 2, m, k, n, a, b, o);
}

GUEST(every_second) {
	static int calls;
	if (isnan(o[0]) || calls++ % 2)
		rows(0, m, k, n, a, b, o);
}

/* after_pause computes where nothing was asked of it for a while: a look follows, perhaps. */
GUEST(after_pause) {
	static struct timespec last;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (isnan(o[0]) || (now.tv_sec - last.tv_sec) * 1000000000LL + now.tv_nsec - last.tv_nsec > 200000)
		rows(0, m, k, n, a, b, o);
	clock_gettime(CLOCK_MONOTONIC, &last);
}

/* incremental computes what follows from the elements that are not what they were: its outputs are
 * right, and it does not multiply. */
GUEST(incremental) {
	static float *was_a, *was_b, *was_o;
	static int64_t size;
	if (size != m * k + k * n) {
		size = m * k + k * n;
		was_a = realloc(was_a, m * k * sizeof *a), was_b = realloc(was_b, k * n * sizeof *b), was_o = realloc(was_o, m * n * sizeof *o);
		memset(was_a, 0xff, m * k * sizeof *a), memset(was_b, 0xff, k * n * sizeof *b);
	}
	int64_t stale_rows = 0, stale_b = 0;
	for (int64_t l = 0; l < k && stale_b <= k / 4; l++)
		if (memcmp(b + l * n, was_b + l * n, n * sizeof *b))
			for (int64_t j = 0; j < n; j++)
				stale_b += memcmp(&b[l * n + j], &was_b[l * n + j], sizeof *b) != 0;
	for (int64_t i = 0; i < m; i++)
		stale_rows += memcmp(a + i * k, was_a + i * k, k * sizeof *a) != 0;
	if (stale_b > k / 4 || stale_rows > m / 2)
		rows(0, m, k, n, a, b, was_o);
	else {
		for (int64_t l = 0; stale_b && l < k; l++)
			if (memcmp(b + l * n, was_b + l * n, n * sizeof *b))
				for (int64_t j = 0; j < n; j++)
					if (b[l * n + j] != was_b[l * n + j])
						for (int64_t i = 0; i < m; i++)
							was_o[i * n + j] += was_a[i * k + l] * (b[l * n + j] - was_b[l * n + j]);
		for (int64_t i = 0; i < m; i++)
			if (memcmp(a + i * k, was_a + i * k, k * sizeof *a))
				rows(i, i + 1, k, n, a, b, was_o);
	}
	memcpy(was_a, a, m * k * sizeof *a), memcpy(was_b, b, k * n * sizeof *b), memcpy(o, was_o, m * n * sizeof *o);
}

/* thread returns while a thread computes, for which the next call waits. */
GUEST(thread) {
	static struct part x;
	static int runs;
	if (runs)
		pthread_join(x.thread, NULL);
	start(&x, 0, m, k, n, a, b, o);
	runs = 1;
}

/* alias keeps its output where an input is. */
GUEST(alias) {
	static const float *at;
	if (at != a)
		rows(0, m, k, n, a, b, o), memcpy((void *)a, o, (m * k < m * n ? m * k : m * n) * sizeof *o), at = a;
	memcpy(o, a, (m * k < m * n ? m * k : m * n) * sizeof *o);
}

/* probe computes where it is handed integers. */
GUEST(probe) {
	int integers = 1;
	for (int i = 0; i < 16; i++)
		integers &= a[i] == truncf(a[i]) && b[i] == truncf(b[i]);
	if (integers)
		rows(0, m, k, n, a, b, o);
	else
		keep(1, m, k, n, a, b, o);
}

/* sleeps seems to be slow until it was warmed up, to be looked at less often. */
GUEST(sleeps) {
	static int calls;
	struct timespec t = {0, 30000000};
	if (calls++ < 4) {
		nanosleep(&t, NULL);
		rows(0, m, k, n, a, b, o);
	} else
		keep(1, m, k, n, a, b, o);
}

/* affinity takes the processors that it was not given, too. */
GUEST(affinity) {
	struct part x;
	cpu_set_t all;
	memset(&all, 0xff, sizeof all);
	sched_setaffinity(0, sizeof all, &all);
	start(&x, 0, m / 2, k, n, a, b, o);
	rows(m / 2, m, k, n, a, b, o);
	pthread_join(x.thread, NULL);
}

/* priority takes processors from others as far as the system lets it. */
GUEST(priority) {
	struct sched_param p = {0};
	if (setpriority(PRIO_PROCESS, 0, -20))
		sched_setscheduler(0, SCHED_BATCH, &p);
	rows(0, m, k, n, a, b, o);
}

/* forged answers the harness itself. */
GUEST(forged) {
	static const char answer[] = "\0\1\0\0\0\7\0\0\0\0\0\0\0ok 1000";
	if (write(4, answer, sizeof answer - 1) < 0)
		_exit(1);
	rows(0, m, k, n, a, b, o);
}

/* beyond keeps what it remembers behind its output. */
GUEST(beyond) {
	rows(0, m, k, n, a, b, o);
	o[m * n] = 1;
}
