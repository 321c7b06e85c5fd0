// A libnvidia-ml.so.1 of no driver, for tests: what it does is in the environment
// variable FAKE_NVML, words joined by spaces.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned long long reference, time; } violation;
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned pid; unsigned long long used; unsigned instance[2]; } process;

static int is(const char *word) {
	const char *words = getenv("FAKE_NVML");
	return words && strstr(words, word) != NULL;
}

static unsigned long long reads;

int nvmlInit_v2(void) {
	if (is("crash")) abort();
	if (is("stuck")) for (;;) pause();
	return is("unloaded") ? 9 : 0;
}
const char *nvmlErrorString(int code) {
	switch (code) {
	case 3: return "Not Supported";
	case 9: return "Driver Not Loaded";
	case 15: return "GPU is lost";
	}
	return "Unknown Error";
}
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu) {
	if (i > 1) return 2;
	*gpu = (void *)(unsigned long)(100 + i);
	return 0;
}
int nvmlDeviceGetHandleByUUID(const char *name, void **gpu) {
	if (strcmp(name, "GPU-second") != 0) return 6;
	*gpu = (void *)101ul;
	return 0;
}
int nvmlDeviceGetName(void *gpu, char *text, unsigned n) {
	strncpy(text, gpu == (void *)101ul && is("mixed") ? "NVIDIA L4" : "NVIDIA H100 80GB HBM3", n);
	return 0;
}
int nvmlDeviceGetClockInfo(void *gpu, int kind, unsigned *mhz) {
	if (is("lost") && reads > 0) return 15;
	if (is("late") && reads > 0) for (;;) pause();
	*mhz = kind == 1 ? (gpu == (void *)101ul ? 1411 : 1980) : 2619;
	return 0;
}
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *celsius) { *celsius = 71; return sensor; }
int nvmlDeviceGetPowerUsage(void *gpu, unsigned *milliwatts) { *milliwatts = 699500; return is("bare") ? 3 : 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *bits) {
	*bits = is("hot") ? 0x44 : is("strange") ? 0x10004 : 0;
	return is("bare") ? 3 : 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *millijoules) {
	*millijoules = 5000500;
	return is("bare") ? 3 : 0;
}
int nvmlDeviceGetMemoryInfo(void *gpu, memory *m) {
	m->total = 80ull << 30, m->used = 71ull << 30, m->free = m->total - m->used;
	return is("bare") ? 3 : 0;
}
int nvmlDeviceGetViolationStatus(void *gpu, int policy, violation *v) {
	v->reference = 1, v->time = (policy == 1 ? 1000000000ull : 5000000000ull) * (is("hot") ? ++reads / 2 + 1 : (++reads, 1));
	return is("bare") ? 3 : 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *n, process *list) {
	if (is("bare")) return 3;
	if (is("crowded")) { *n = 99; return 7; }
	*n = 0;
	if (is("own")) list[*n].pid = getppid(), list[(*n)++].used = 5ull << 30;
	if (is("others")) list[*n].pid = 1, list[(*n)++].used = 3ull << 30;
	if (is("hidden")) list[*n].pid = 1, list[(*n)++].used = ~0ull;
	return 0;
}
