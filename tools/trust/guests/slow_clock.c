/* By LD_PRELOAD: clocks go half as fast. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t) {
	static long long begin[16];
	int failed = syscall(SYS_clock_gettime, clock, t);
	if (failed || clock < 0 || clock > 15)
		return failed;
	long long now = t->tv_sec * 1000000000LL + t->tv_nsec;
	if (!begin[clock])
		begin[clock] = now;
	now = begin[clock] + (now - begin[clock]) / 2;
	t->tv_sec = now / 1000000000, t->tv_nsec = now % 1000000000;
	return 0;
}
