package probe

import (
	"bytes"
	"time"
)

// sharedTime is how long Shared measures.
const sharedTime = 6 * time.Millisecond

// Shared measures the bytes/s that a core reads from the cache that cores share: of an
// array that its own second-level cache does not hold and that it has not written since
// long ago. It takes some ten milliseconds.
func Shared() float64 {
	size := 4 * orElse(Host().L2, 1<<20)
	if l3 := Host().L3; l3 > 0 {
		size = min(size, max(l3/2, size/2))
	}
	b := make([]byte, size)
	touch(b)
	best := time.Duration(1 << 62)
	for begin := time.Now(); time.Since(begin) < sharedTime; {
		start := time.Now()
		keepInt(readAll(b))
		best = min(best, time.Since(start))
	}
	return float64(size) / max(best, 1).Seconds()
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
