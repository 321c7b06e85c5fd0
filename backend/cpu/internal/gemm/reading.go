package gemm

import (
	"context"
	"math/bits"
	"sync"
	"time"
	"unsafe"

	"matladder/backend/cpu/internal/probe"
)

// A ReadCost is what a product takes of a core for each element of B, in seconds, as
// measured while other cores did the same.
type ReadCost struct {
	Pack     float64 // once: to pack it as a whole; 0 for what reads it where it lies
	Multiply float64 // for as many rows of A as were measured
}

// CanRead reports whether this path reads B in a way.
func (p *Path[S, C]) CanRead(read ReadB) bool {
	switch read {
	case ReadPacked:
		return true
	case ReadTiles:
		return p.direct.tile != nil
	case ReadStreams:
		return p.direct.tile != nil && p.stream.run != nil
	case ReadPieces:
		return p.direct.pieces.steps > 0
	}
	return false
}

// MostRead is the most rows of A that ReadCosts measures.
const MostRead = 128

// ReadCosts measures each way in which this path reads B, on so many threads at once, for
// about so many rows of A, at most MostRead, and a B of about so many bytes, of which each
// thread has its part, in rows some bytes apart. It takes some milliseconds, once for each
// kind of B.
func (p *Path[S, C]) ReadCosts(threads, rows int, bytes int64, apart int) map[ReadB]ReadCost {
	key := readKey{p.Name, p.blocking, p.direct.steps, threads, representative(rows), partOf(bytes, threads), apart%sameSets == 0}
	measuredReads.Lock()
	defer measuredReads.Unlock()
	costs, ok := measuredReads.of[key]
	if !ok {
		costs = p.measureReads(threads, key.rows, key.part, key.alike)
		measuredReads.of[key] = costs
	}
	return costs
}

type readKey struct {
	path     string
	blocking blocking // these two by choices
	steps    int
	threads  int
	rows     int
	part     int  // bytes of B that a thread has
	alike    bool // rows of B fall into few sets of the caches
}

// sameSets is the distance in bytes of which rows of B are multiples that fall into few
// sets of the caches.
const sameSets = 512

// measuredReads are those of this process; who measures has the lock, so that two do not
// disturb each other.
var measuredReads = struct {
	sync.Mutex
	of map[readKey]map[ReadB]ReadCost
}{of: map[readKey]map[ReadB]ReadCost{}}

// representative is a number of rows near enough to stand for so many.
func representative(rows int) int {
	switch rows = min(max(rows, 1), MostRead); {
	case rows <= 8:
		return rows
	case rows <= 64:
		return ceil(rows, 4) * 4
	}
	return ceil(rows, 32) * 32
}

// partOf is about as many bytes as each thread has of a B: as many decide which cache it
// comes from.
func partOf(bytes int64, threads int) int {
	most := max(2*max(probe.Host().L2, 512<<10), mostProbed/threads)
	part := max(leastProbed, int(min(bytes/int64(threads), int64(most))))
	step := 1 << (bits.Len(uint(part)) - 3)
	return part / step * step
}

const (
	leastProbed = 64 << 10  // bytes of a thread
	mostProbed  = 128 << 20 // bytes of all threads, but for as many as lie beyond L2
)

// A readProbe is what one thread measures with: its part of a B, which it reads in blocks
// of all rows and some columns.
type readProbe[S Source, C Sum] struct {
	source    []S
	a, packed []byte
	c         []C
}

// measureReads measures on so many threads at once, as they share caches and memory.
func (p *Path[S, C]) measureReads(threads, m, part int, alike bool) map[ReadB]ReadCost {
	row := 1 << 10 // bytes; the larger the part, the longer and the more they are
	for row < 8<<10 && row*row/16 < part {
		row *= 2
	}
	k := part / row
	if !alike {
		row += 3 * cacheLine
	}
	ld := row / size[S]()
	columns := min(512, ld/p.NR*p.NR)
	parts, block := max(1, ld/columns), p.SizeB(k, columns)
	probes := make([]readProbe[S, C], threads)
	// each is the time of an element; where others disturb, it measures again until two
	// times agree.
	each := func(total time.Duration, f func(x *readProbe[S, C], part int)) float64 {
		const least, most, alike = 2, 5, 0.97
		best, second := 0.0, 0.0
		for try := 0; try < least || try < most && second < alike*best; try++ {
			rate := probe.Team(context.Background(), threads, total, func(thread int) float64 {
				for part := range parts {
					f(&probes[thread], part)
				}
				return float64(k * parts * columns)
			})
			best, second = max(best, rate), max(second, min(best, rate))
		}
		return float64(threads) / best
	}
	each(0, func(x *readProbe[S, C], _ int) {
		if x.source == nil {
			x.source = patterns[S](k * ld)
			x.a, x.packed, x.c = Buffer(p.SizeA(m, k)), Buffer(parts*block), make([]C, m*columns)
			p.PackA(x.a, patterns[S](m*k), k, m, k)
		}
	})
	costs := map[ReadB]ReadCost{ReadPacked: {
		Pack: each(readTime, func(x *readProbe[S, C], part int) {
			p.PackB(x.packed[part*block:], x.source[part*columns:], ld, k, columns)
		}),
		Multiply: each(readTime, func(x *readProbe[S, C], part int) {
			p.Block(x.c, columns, m, columns, k, x.a, x.packed[part*block:], false)
		}),
	}}
	for _, read := range []ReadB{ReadTiles, ReadStreams, ReadPieces} {
		if p.CanRead(read) {
			q := choose(map[any]any{}, p, Choices{B: read})
			costs[read] = ReadCost{Multiply: each(readTime, func(x *readProbe[S, C], part int) {
				q.BlockDirect(x.c, columns, m, columns, k, x.a, x.source[part*columns:], ld, false)
			})}
		}
	}
	return costs
}

// patterns are n numbers of pattern, in memory of their own.
func patterns[S Source](n int) []S {
	memory := Buffer(n * size[S]())
	x := unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(memory))), n)
	const period = 1021
	for i := range min(period, n) {
		x[i] = pattern(x[max(0, i-1)], i)
	}
	for done := period; done < n; done *= 2 {
		copy(x[done:], x[:done])
	}
	return x
}

// readTime is how long each way to read B is measured for, at least.
const readTime = 500 * time.Microsecond
