package probe

import (
	"context"
	"runtime/debug"
	"time"
)

// Limits of the memory that Bandwidth streams through, in bytes, and how many times that
// of the last-level cache it is: some caches keep a part of what is read round and round,
// so that of three times their size a third comes from them. A cache beyond the upper limit
// (seen on virtual machines, shared with others) is part of what is measured.
const (
	leastStream = 96 << 20
	mostStream  = 512 << 20
	timesCache  = 8
)

// Bandwidth measures the bytes/s that threads goroutines move together through memory too large
// for the caches, counted as STREAM counts: what the program reads and writes, not what the cache
// adds. It is the better of a sum (reads only) and a triad (two reads, one write), by all threads
// or by one alone, and zero if ctx ends first.
func Bandwidth(ctx context.Context, threads int) float64 {
	if ctx.Err() != nil { // or memory would be made for nothing
		return 0
	}
	if threads <= 1 {
		return stream(ctx, 1, budget)
	}
	all, alone := stream(ctx, threads, budget*2/3), stream(ctx, 1, budget/3)
	if ctx.Err() != nil {
		return 0
	}
	return max(all, alone)
}

func stream(ctx context.Context, threads int, d time.Duration) float64 {
	const arrays, word = 3, 8
	n := min(max(leastStream, timesCache*Host().L3), mostStream) / (arrays * word * threads)
	memory := make([][arrays][]float64, threads)
	Each(ctx, threads, func(m int) {
		for i := range memory[m] {
			memory[m][i] = make([]float64, n)
			for j := range memory[m][i] { // pages appear when written
				memory[m][i][j] = float64(j & 7)
			}
		}
	})
	defer debug.FreeOSMemory()
	if ctx.Err() != nil {
		return 0
	}
	triads := Team(ctx, threads, d/2, func(m int) float64 {
		triad(memory[m][0], memory[m][1], memory[m][2], 0.5)
		return float64(arrays * word * n)
	})
	sums := Team(ctx, threads, d/2, func(m int) float64 {
		for _, v := range memory[m] {
			keep(sum(v))
		}
		return float64(arrays * word * n)
	})
	clear(memory)
	return max(triads, sums)
}

// triad is a[i] = b[i] + s*c[i].
func triad(a, b, c []float64, s float64) {
	b, c = b[:len(a)], c[:len(a)]
	for len(a) >= 4 {
		a[0] = b[0] + s*c[0]
		a[1] = b[1] + s*c[1]
		a[2] = b[2] + s*c[2]
		a[3] = b[3] + s*c[3]
		a, b, c = a[4:], b[4:], c[4:]
	}
}

// sum adds in four chains, for the latency of one addition is longer than
// that of bringing its line.
func sum(v []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(v) >= 8 {
		s0 += v[0] + v[4]
		s1 += v[1] + v[5]
		s2 += v[2] + v[6]
		s3 += v[3] + v[7]
		v = v[8:]
	}
	return s0 + s1 + s2 + s3
}

// keep has what is computed needed.
//
//go:noinline
func keep[T int | float64](T) {}
