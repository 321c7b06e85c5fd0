/* A PJRT plugin of a GPU that is not there, for tests: XLA for CPUs, whose library is at
 * FAKE_GPU_XLA, under the name of an H100. A kernel of Triton that multiplies two matrices
 * is compiled as XLA's own product of them; others are refused. What goes wrong is in
 * FAKE_GPU, words joined by spaces:
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
	{12, "UNIMPLEMENTED: a kernel that is no product of two matrices"},
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

/* products writes kernels as products; NULL if one is none. */
static char *products(const char *text) {
	static const char call[] = "stablehlo.custom_call @__gpu$xla.gpu.triton(";
	char *out = malloc(2 * strlen(text) + 1), *to = out;
	for (const char *at = text;;) {
		const char *from = strstr(at, call);
		if (!from) return strcpy(to, at), out;
		const char *operands = from + sizeof call - 1, *end = strchr(operands, ')'), *line = strchr(from, '\n');
		const char *comma = memchr(operands, ',', end - operands), *types = NULL;
		for (const char *p = end; (p = strstr(p, "} : (")) && p < line; p++) types = p + 4;
		if (!types || !comma || memchr(comma + 1, ',', end - comma - 1)) return free(out), NULL;
		to += sprintf(to, "%.*sstablehlo.dot_general %.*s, contracting_dims = [1] x [0] : ", (int)(from - at), at, (int)(end - operands), operands);
		at = types;
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
