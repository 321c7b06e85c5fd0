/* peer KIND LIBRARY THREADS: times the products of another library for
 * matladder. KIND is cblas, onednn or xsmm.
 *
 * Requests come on descriptor 3, answers go to 4, as messages (internal/child): a
 * byte 0, the number of parts in four bytes, and the parts, each behind its length
 * in eight. The first part is text, the others are arrays in the machine's byte
 * order. What the library prints is no answer.
 *
 *   hello                        ready FORM,FORM,... VERSION
 *   product FORM BATCH M K N SA SB ok; SA and SB are numbers of scales
 *   packed FORM BATCH M K N SA SB as product, with b packed ahead of launches
 *   load, then a, b, sa and sb   ok; without scales only a and b
 *   run LAUNCHES                 ok NANOSECONDS
 *   poison                       ok; o is full of ones
 *   output                       ok, then o
 *
 * Any answer may be "failed WHY", the one to product also "unsupported WHY".
 * One process computes one product or batch of products, and ends when nobody asks any more. */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

const struct elements forms[FORMS] = {
	[F32] = {"f32", 4, 4, 4},           [BF16_F32] = {"bf16_f32", 2, 2, 4},
	[F16_F32] = {"f16_f32", 2, 2, 4},     [F16_F16] = {"f16_f16", 2, 2, 2},
	[BF16_BF16] = {"bf16_bf16", 2, 2, 2}, [S8_S32] = {"s8_s32", 1, 1, 4},
	[U8_S32] = {"u8_s32", 1, 1, 4},       [S8_F32] = {"s8_f32", 1, 1, 4},
	[S8_BF16] = {"s8_bf16", 1, 1, 2},     [U8_F32] = {"u8_f32", 1, 1, 4},
	[U8_BF16] = {"u8_bf16", 1, 1, 2},
};

enum { QUESTIONS = 3, ANSWERS = 4 };

/* receive reads what is asked, or ends the process: the parent is gone. */
static void receive(void *to, size_t bytes) {
	while (bytes) {
		ssize_t n = read(QUESTIONS, to, bytes);
		if (n == 0 || (n < 0 && errno != EINTR))
			_exit(0); /* without the destructors of libraries, which may wait for their threads */
		if (n > 0)
			to = (char *)to + n, bytes -= n;
	}
}

static void send(const void *from, size_t bytes) {
	while (bytes) {
		ssize_t n = write(ANSWERS, from, bytes);
		if (n < 0 && errno != EINTR)
			_exit(0);
		if (n > 0)
			from = (const char *)from + n, bytes -= n;
	}
}

/* head begins a message of a number of parts with its first. */
static void head(uint32_t parts, const char *text) {
	const char kind = 0;
	const uint64_t length = strlen(text);
	send(&kind, sizeof kind);
	send(&parts, sizeof parts);
	send(&length, sizeof length);
	send(text, length);
}

static void answer(const char *word, const char *text) {
	char line[1024];
	snprintf(line, sizeof line, text ? "%s %s" : "%s", word, text);
	head(1, line);
}

static void verdict(const char *why) { answer(why ? "failed" : "ok", why); }

/* confine leaves the process as many of its cores as it may have threads:
 * some libraries take the one for the other. */
static void confine(int threads) {
	cpu_set_t may, some;
	if (sched_getaffinity(0, sizeof may, &may))
		return;
	CPU_ZERO(&some);
	for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&some) < threads; core++)
		if (CPU_ISSET(core, &may))
			CPU_SET(core, &some);
	sched_setaffinity(0, sizeof some, &some);
}

/* allocate returns memory on large pages, as matladder's own arrays have, full
 * of ones: a NaN, should nothing be written to it. */
static void *allocate(size_t bytes) {
	const size_t page = 2 << 20;
	bytes = (bytes + page - 1) / page * page;
	void *p = aligned_alloc(page, bytes);
	if (p) {
		madvise(p, bytes, MADV_HUGEPAGE);
		memset(p, 0xff, bytes);
	}
	return p;
}

static size_t bytes_a(const struct product *p) { return (size_t)p->batch * p->m * p->k * forms[p->form].a; }
static size_t bytes_b(const struct product *p) { return (size_t)p->batch * p->k * p->n * forms[p->form].b; }
static size_t bytes_o(const struct product *p) { return (size_t)p->batch * p->m * p->n * forms[p->form].o; }

/* ones returns a number of scales, which are 1 until others come. */
static float *ones(int count) {
	float *p = allocate(count * sizeof *p);
	for (int i = 0; p && i < count; i++)
		p[i] = 1;
	return p;
}

static void product(const char *request, struct library *lib, struct product *p) {
	char name[32];
	int unsupported = 0;
	p->packed = !strncmp(request, "packed ", 7);
	if (p->a || sscanf(request, "%*s %31s %d %d %d %d %d %d", name, &p->batch, &p->m, &p->k, &p->n, &p->scales_a, &p->scales_b) != 7 ||
		p->batch < 1 || p->m < 1 || p->k < 1 || p->n < 1)
		return verdict("not a product, or the second one");
	p->form = FORMS;
	for (int f = 0; f < FORMS; f++)
		if (!strcmp(forms[f].name, name))
			p->form = f;
	if (p->form == FORMS || !lib->has[p->form])
		return answer("unsupported", "the library has no product of this form");
	if (p->batch > 1 && (p->packed || p->form >= SCALED))
		return answer("unsupported", "batches are of products as they are");
	if (p->packed && !lib->packs[p->form])
		return answer("unsupported", "the library does not pack b ahead of products of this form");
	int scaled = p->form >= SCALED;
	if (scaled ? (p->scales_a != 1 && p->scales_a != p->m) || (p->scales_b != 1 && p->scales_b != p->n) : p->scales_a || p->scales_b)
		return verdict("not the scales of this form");
	p->a = allocate(bytes_a(p));
	p->b = allocate(bytes_b(p));
	p->o = allocate(bytes_o(p));
	p->sa = ones(p->scales_a);
	p->sb = ones(p->scales_b);
	if (!p->a || !p->b || !p->o || (scaled && (!p->sa || !p->sb)))
		return verdict("no memory for the arrays");
	const char *why = lib->prepare(p, &unsupported);
	if (why && unsupported)
		return answer("unsupported", why);
	verdict(why);
}

/* part reads an array of a request, of so many bytes. */
static void part(void *array, size_t bytes) {
	uint64_t length;
	receive(&length, sizeof length);
	if (length != bytes)
		_exit(2);
	receive(array, bytes);
}

static void poison(struct product *p) { memset(p->o, 0xff, bytes_o(p)); }

static void load(struct library *lib, struct product *p) {
	part(p->a, bytes_a(p));
	part(p->b, bytes_b(p));
	if (p->scales_a) {
		part(p->sa, p->scales_a * sizeof *p->sa);
		part(p->sb, p->scales_b * sizeof *p->sb);
	}
	poison(p);
	verdict(lib->loaded ? lib->loaded(p) : NULL);
}

static void run(const char *request, struct library *lib, struct product *p) {
	struct timespec begin, end;
	char nanoseconds[32];
	long launches;
	if (sscanf(request, "run %ld", &launches) != 1)
		return verdict("run: how many launches?");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < launches; i++) {
		const char *why = lib->launch(p);
		if (why)
			return verdict(why);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	snprintf(nanoseconds, sizeof nanoseconds, "%lld",
		(end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec));
	answer("ok", nanoseconds);
}

static void output(struct product *p) {
	const uint64_t length = bytes_o(p);
	head(2, "ok");
	send(&length, sizeof length);
	send(p->o, length);
}

/* next reads the text of a request; arrays behind it are left to be read. */
static void next(char *request, size_t size) {
	char kind;
	uint32_t parts;
	uint64_t length;
	receive(&kind, sizeof kind);
	receive(&parts, sizeof parts);
	receive(&length, sizeof length);
	if (kind || length >= size)
		_exit(2);
	receive(request, length);
	request[length] = 0;
}

static void serve(struct library *lib, const char *ready) {
	char request[256];
	struct product p = {0};
	for (;;) {
		next(request, sizeof request);
		if (!strcmp(request, "hello"))
			answer("ready", ready);
		else if (!strncmp(request, "product ", 8) || !strncmp(request, "packed ", 7))
			product(request, lib, &p);
		else if (!p.o)
			verdict("no product");
		else if (!strcmp(request, "load"))
			load(lib, &p);
		else if (!strncmp(request, "run ", 4))
			run(request, lib, &p);
		else if (!strcmp(request, "poison")) {
			poison(&p);
			verdict(NULL);
		} else if (!strcmp(request, "output"))
			output(&p);
		else
			verdict("no such request");
	}
}

/* open_library loads what can compute, or says why not. */
static const char *open_library(const char *kind, const char *path, struct library *lib) {
	void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		return dlerror();
	if (!strcmp(kind, "xsmm"))
		return open_xsmm(handle, lib);
	return !strcmp(kind, "onednn") ? open_onednn(handle, lib) : open_cblas(handle, lib);
}

int main(int argc, char **argv) {
	struct library lib = {0};
	char ready[512] = "";
	if (argc != 4)
		return 2;
	fcntl(QUESTIONS, F_SETFD, FD_CLOEXEC);
	fcntl(ANSWERS, F_SETFD, FD_CLOEXEC);
	confine(atoi(argv[3]));
	const char *why = open_library(argv[1], argv[2], &lib);
	if (why) {
		char request[256];
		next(request, sizeof request);
		answer("failed", why);
		return 1;
	}
	for (int f = 0; f < FORMS; f++)
		if (lib.has[f]) {
			strcat(ready, *ready ? "," : "");
			strcat(ready, forms[f].name);
		}
	snprintf(ready + strlen(ready), sizeof ready - strlen(ready), " %.200s", lib.version);
	serve(&lib, ready);
}
