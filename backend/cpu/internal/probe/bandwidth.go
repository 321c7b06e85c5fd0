package probe

import (
	"context"
	"runtime/debug"
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

// A Stream is memory too large for the caches, of which each measurement goes through what the last
// one left.
type Stream struct {
	pieces [][arrays][]float64
	next   int
}

const (
	arrays = 3
	word   = 8 // bytes of an element
)

// NewStream writes the memory of a stream, by threads goroutines. It is nil if ctx ends first.
func NewStream(ctx context.Context, threads int) *Stream {
	const perThread = 16  // pieces
	if ctx.Err() != nil { // or memory would be made for nothing
		return nil
	}
	threads = max(1, threads)
	s := &Stream{pieces: make([][arrays][]float64, perThread*threads)}
	n := min(max(leastStream, timesCache*Host().L3), mostStream) / (arrays * word * len(s.pieces))
	Each(ctx, threads, func(m int) {
		for p := m; p < len(s.pieces); p += threads {
			for i := range s.pieces[p] {
				s.pieces[p][i] = written(n)
			}
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return s
}

// written are n numbers in pages that are there, as they are once written.
func written(n int) []float64 {
	v := make([]float64, n)
	for j := range v {
		v[j] = float64(j & 7)
	}
	return v
}

// Bandwidth measures the bytes/s that threads goroutines move together, counted as STREAM counts:
// what the program reads and writes, not what the cache adds. It is the better of a sum (reads
// only) and a triad (two reads, one write), by all threads or by one alone, and zero if ctx ends
// first.
func (s *Stream) Bandwidth(ctx context.Context, threads int) float64 {
	best := 0.0
	for _, threads := range []int{max(1, threads), 1} {
		for _, work := range []func(p [arrays][]float64){
			func(p [arrays][]float64) { triad(p[0], p[1], p[2], 0.5) },
			func(p [arrays][]float64) {
				for _, v := range p {
					keep(sum(v))
				}
			},
		} {
			at := make([]int, threads)
			best = max(best, Team(ctx, threads, budget/2, func(m int) float64 {
				p := s.pieces[(s.next+m+at[m]*threads)%len(s.pieces)]
				at[m]++
				work(p)
				return float64(arrays * len(p[0]) * word)
			}))
			s.next += at[0] * threads
		}
	}
	if ctx.Err() != nil {
		return 0
	}
	return best
}

// Free gives the memory back.
func (s *Stream) Free() {
	s.pieces = nil
	debug.FreeOSMemory()
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
