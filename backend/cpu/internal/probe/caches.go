package probe

import (
	"bytes"
	"context"
	"time"
)

// sharedTime is how long Shared measures.
const sharedTime = 6 * time.Millisecond

// Shared measures the bytes/s that each of some threads, all at the same time, reads from the
// cache that cores share: of an array that a second-level cache does not hold and that none has
// written recently. It takes some ten milliseconds, and is zero if ctx ends first.
func Shared(ctx context.Context, threads int) float64 {
	size := 4 * orElse(Host().L2, 1<<20)
	if l3 := Host().L3; l3 > 0 {
		size = min(size, max(l3/2, size/2))
	}
	b := make([]byte, size)
	touch(b)
	threads = max(1, threads)
	return Team(ctx, threads, sharedTime, func(member int) float64 {
		at := member * size / threads // no two read the same lines at the same time
		keepInt(readAll(b[at:]))
		keepInt(readAll(b[:at]))
		return float64(size)
	}) / float64(threads)
}

// readAll goes through all of b, in which no byte is zero, by the widest loads that the
// standard library has.
func readAll(b []byte) int { return bytes.IndexByte(b, 0) }

func touch(b []byte) {
	for i := range b {
		b[i] = 1
	}
}

func orElse(n, other int) int {
	if n > 0 {
		return n
	}
	return other
}

//go:noinline
func keepInt(int) {}
