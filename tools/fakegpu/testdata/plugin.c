/* A PJRT plugin of a simulated GPU, for tests: XLA for CPUs, whose library is at
 * FAKE_GPU_XLA, under the name of an H100. A kernel of Triton that multiplies two matrices
 * is compiled as XLA's own product of them, with a scale of each if it has them, and one of
 * one operand as a copy; others are refused. What goes wrong is in FAKE_GPU, words joined by spaces:
 *
 *   old    the driver is too old: there is no client
 *   full   another process has all memory: there is no array of more than a few numbers
 *   crash  the plugin ends its process on text of Triton
 *   hang   it takes for ever
 *   wrong  kernels multiply a by 0
 *
 * The layout follows pjrt_c_api.h of XLA. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { header = 40, error_destroy = 0, error_message = 1, error_code = 2, client_create = 10, platform_name = 12, compile = 20, from_host = 22, device_kind = 26 };

typedef void *function(void *);
typedef struct { size_t size; void *extensions, *of; const char *text; size_t length; } text_args;
typedef struct { size_t size; void *extensions, *of; int code; } code_args;
typedef struct { size_t size; void *extensions; char *code; size_t code_size; const char *format; size_t format_size; } program;
typedef struct { size_t size; void *extensions, *client; program *program; } compile_args;
typedef struct { size_t size; void *extensions, *client, *data; int type; const long long *dims; size_t rank; } from_host_args;
typedef struct { int code; const char *text; } failure;

static function **real;
static failure failures[] = {
	{13, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: CUDA driver version is insufficient for CUDA runtime version"},
	{8, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8388608 bytes."},
	{12, "UNIMPLEMENTED: a kernel that is no product of two matrices, nor one with a scale of each"},
};

static int is(const char *word) {
	const char *words = getenv("FAKE_GPU");
	return words && strstr(words, word) != NULL;
}
static int own(void *error) { return (failure *)error >= failures && (failure *)error < failures + 3; }

static void *destroy_error(void *args) { return own(((text_args *)args)->of) ? NULL : real[error_destroy](args); }
static void *error_text(void *args) {
	text_args *a = args;
	if (!own(a->of)) return real[error_message](args);
	a->text = ((failure *)a->of)->text;
	a->length = strlen(a->text);
	return NULL;
}
static void *code_of_error(void *args) {
	code_args *a = args;
	if (!own(a->of)) return real[error_code](args);
	a->code = ((failure *)a->of)->code;
	return NULL;
}
static void *create(void *args) { return is("old") ? &failures[0] : real[client_create](args); }
static void *name(void *args) {
	text_args *a = args;
	a->text = "cuda", a->length = 4;
	return NULL;
}
static void *kind(void *args) {
	text_args *a = args;
	a->text = "NVIDIA H100 80GB HBM3", a->length = strlen(a->text);
	return NULL;
}
static void *transfer(void *args) {
	from_host_args *a = args;
	long long elements = 1;
	for (size_t i = 0; i < a->rank; i++) elements *= a->dims[i];
	return is("full") && elements > 256 ? &failures[1] : real[from_host](args);
}

typedef struct { const char *at; int length; } word;

/* words parts a list at its commas, into at most four; it returns how many there are. */
static int words(const char *from, const char *end, word *out) {
	int n = 0;
	for (const char *at = from; at < end; n++) {
		const char *comma = memchr(at, ',', end - at), *stop = comma ? comma : end;
		if (n < 4) out[n].at = at, out[n].length = stop - at;
		at = stop + 2;
	}
	return n;
}

/* products writes kernels of two operands as a product, and those of four as a product in
 * float32 times two arrays of scales; NULL if one is neither. */
static char *products(const char *text) {
	static const char call[] = "stablehlo.custom_call @__gpu$xla.gpu.triton(";
	static const char by[] = "contracting_dims = [1] x [0]";
	char *out = malloc(2 * strlen(text) + 1), *to = out;
	for (const char *at = text;;) {
		const char *from = strstr(at, call);
		if (!from) return strcpy(to, at), out;
		const char *operands = from + sizeof call - 1, *end = strchr(operands, ')'), *line = strchr(from, '\n'), *types = NULL;
		for (const char *p = end; (p = strstr(p, "} : (")) && p < line; p++) types = p + 4;
		if (!types) return free(out), NULL;
		const char *stop = strchr(types, ')'), *result = stop + 5;
		word x[4], t[4];
		int n = words(operands, end, x);
		if (n != words(types + 1, stop, t) || (n != 1 && n != 2 && n != 4)) return free(out), NULL;
		if (n == 1) { /* a copy that lies otherwise, which XLA sees to */
			to += sprintf(to, "%.*sstablehlo.convert %.*s : ", (int)(from - at), at, (int)(end - operands), operands);
			at = types;
			continue;
		}
		if (n == 2) {
			to += sprintf(to, "%.*sstablehlo.dot_general %.*s, %s : ", (int)(from - at), at, (int)(end - operands), operands, by);
			at = types;
			continue;
		}
		for (int i = 2; i < 4; i++)
			if (strncmp(t[i].at + t[i].length - 5, "xf32>", 5)) return free(out), NULL;
		const char *name = from, *last = strchr(result, '>');
		while (*name != '%') name--;
		to += sprintf(to, "%.*s", (int)(name - at), at);
		while (*last != 'x') last--; /* behind it is the type of an element */
		char wide[64], operand[2][64], base[32];
		snprintf(wide, sizeof wide, "%.*sxf32>", (int)(last - result), result);
		snprintf(base, sizeof base, "%%fake%d", (int)(name - text));
		for (int i = 0; i < 2; i++) {
			last = t[i].at + t[i].length;
			while (*last != 'x') last--;
			snprintf(operand[i], sizeof operand[i], "%.*sxf32>", (int)(last - t[i].at), t[i].at);
			to += sprintf(to, "%s_%d = stablehlo.convert %.*s : (%.*s) -> %s\n    ", base, i, x[i].length, x[i].at, t[i].length, t[i].at, operand[i]);
		}
		to += sprintf(to, "%s_2 = stablehlo.dot_general %s_0, %s_1, %s : (%s, %s) -> %s\n    ", base, base, base, by, operand[0], operand[1], wide);
		for (int i = 2; i < 4; i++) {
			to += sprintf(to, "%s_s%d = stablehlo.broadcast_in_dim %.*s, dims = [0, 1] : (%.*s) -> %s\n    ", base, i, x[i].length, x[i].at, t[i].length, t[i].at, wide);
			to += sprintf(to, "%s_%d = stablehlo.multiply %s_%d, %s_s%d : %s\n    ", base, i + 1, base, i, base, i, wide);
		}
		to += sprintf(to, "%.*sstablehlo.convert %s_4 : (%s)", (int)(from - name), name, base, wide);
		at = stop + 1;
	}
}

static void *build(void *args) {
	compile_args *a = args;
	if (!strstr(a->program->code, "gpu.triton(")) return real[compile](args);
	if (is("crash")) *(volatile int *)16 = 1;
	while (is("hang")) sleep(1);
	char *text = products(a->program->code);
	if (!text) return &failures[2];
	if (is("wrong")) for (char *p = text; (p = strstr(p, "contracting_dims = [1] x [0]")); p++) memcpy(p, "contracting_dims = [0] x [1]", 28);
	program changed = *a->program, *given = a->program;
	changed.code = text, changed.code_size = strlen(text);
	a->program = &changed;
	void *failed = real[compile](args);
	a->program = given;
	free(text);
	return failed;
}

const void *GetPjrtApi(void) {
	static char *table;
	if (table) return table;
	void *library = dlopen(getenv("FAKE_GPU_XLA"), RTLD_NOW | RTLD_LOCAL);
	if (!library) return fprintf(stderr, "%s\n", dlerror()), NULL;
	const char *given = ((const void *(*)(void))dlsym(library, "GetPjrtApi"))();
	size_t size = *(size_t *)given;
	table = memcpy(malloc(size), given, size);
	real = (function **)(given + header);
	function **mine = (function **)(table + header);
	mine[error_destroy] = destroy_error, mine[error_message] = error_text, mine[error_code] = code_of_error;
	mine[client_create] = create, mine[platform_name] = name, mine[device_kind] = kind;
	mine[compile] = build, mine[from_host] = transfer;
	return table;
}
