package gemm

import (
	"cmp"
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
	case ReadDots:
		return p.dots.run != nil
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
	key := readKey{p.Name, size[S](), p.blocking, p.direct.steps, threads, representative(rows), partOf(bytes, threads), apart%sameSets == 0, shortRow(apart), 0}
	return measuredOnce(key, func() map[ReadB]ReadCost { return p.measureReads(threads, key.rows, key.part, key.short, key.alike) })
}

// TransposedCosts is ReadCosts for a B whose columns are rows of memory, of depth elements
// one behind the other.
func (p *Path[S, C]) TransposedCosts(threads, rows, depth int, bytes int64) map[ReadB]ReadCost {
	const least, most = 16, 1024
	depth = 1 << bits.Len(uint(min(max(depth, least), most)-1))
	key := readKey{p.Name, size[S](), p.blocking, p.direct.steps, threads, representative(rows), partOf(bytes, threads), false, 0, depth}
	return measuredOnce(key, func() map[ReadB]ReadCost { return p.measureTransposed(threads, key.rows, key.part, depth) })
}

func measuredOnce(key readKey, measure func() map[ReadB]ReadCost) map[ReadB]ReadCost {
	measuredReads.Lock()
	defer measuredReads.Unlock()
	costs, ok := measuredReads.of[key]
	if !ok {
		costs = measure()
		measuredReads.of[key] = costs
	}
	return costs
}

type readKey struct {
	path     string
	size     int      // bytes of an element, which paths of one name may differ in
	blocking blocking // these two by choices
	steps    int
	threads  int
	rows     int
	part     int  // bytes of B that a thread has
	alike    bool // rows of B fall into few sets of the caches
	short    int  // bytes of a short row of B
	depth    int  // of a B whose columns are rows of memory; 0 for others
}

// shortRow is about how many bytes rows of B have that follow each other and are short; 0
// for others.
func shortRow(apart int) int {
	const least = 64
	if apart > directAhead {
		return 0
	}
	return 1 << bits.Len(uint(max(apart, least)-1))
}

// shortRows are so many of short ones as a block has.
const shortRows = 512

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
func (p *Path[S, C]) measureReads(threads, m, part, short int, alike bool) map[ReadB]ReadCost {
	row := cmp.Or(short, 1<<10) // bytes; the larger the part, the longer and the more they are
	for short == 0 && row < 8<<10 && row*row/16 < part {
		row *= 2
	}
	all := part / row
	if !alike && short == 0 {
		row += 3 * cacheLine
	}
	ld, k := row/size[S](), all
	columns := min(512, ld/p.NR*p.NR)
	parts, apart := max(1, ld/max(columns, 1)), columns
	if short > 0 {
		k = min(shortRows, all)
		columns, parts, apart = ld, all/k, k*ld
	}
	block := p.SizeB(k, columns)
	each := readTimer[S, C](threads, parts, k*columns)
	each(0, func(x *readProbe[S, C], _ int) {
		if x.source == nil {
			x.source = patterns[S](all * ld)
			x.a, x.packed, x.c = Buffer(p.SizeA(m, k)), Buffer(parts*block), make([]C, m*columns)
			p.PackA(x.a, patterns[S](m*k), k, m, k)
		}
	})
	costs := map[ReadB]ReadCost{ReadPacked: {
		Pack: each(readTime, func(x *readProbe[S, C], part int) {
			p.PackB(x.packed[part*block:], x.source[part*apart:], ld, k, columns)
		}),
		Multiply: each(readTime, func(x *readProbe[S, C], part int) {
			p.Block(x.c, columns, m, columns, k, x.a, x.packed[part*block:], false)
		}),
	}}
	for _, read := range []ReadB{ReadTiles, ReadStreams, ReadPieces} {
		if p.CanRead(read) {
			q := choose(map[any]any{}, p, Choices{B: read})
			costs[read] = ReadCost{Multiply: each(readTime, func(x *readProbe[S, C], part int) {
				q.BlockDirect(x.c, columns, m, columns, k, x.a, x.source[part*apart:], ld, false)
			})}
		}
	}
	return costs
}

// measureTransposed is measureReads for a B whose columns are rows of memory.
func (p *Path[S, C]) measureTransposed(threads, m, part, k int) map[ReadB]ReadCost {
	n := max(dotsColumns, part/(k*size[S]()))
	columns := min(512, n)
	parts, block := n/columns, p.SizeB(k, columns)
	each := readTimer[S, C](threads, parts, k*columns)
	each(0, func(x *readProbe[S, C], _ int) {
		if x.source == nil {
			x.source = patterns[S](k * n)
			x.a, x.packed, x.c = Buffer(p.SizeA(m, k)), Buffer(parts*block), make([]C, m*columns)
			p.PackA(x.a, patterns[S](m*k), k, m, k)
		}
	})
	costs := map[ReadB]ReadCost{ReadPacked: {
		Pack: each(readTime, func(x *readProbe[S, C], part int) {
			p.PackBT(x.packed[part*block:], x.source[part*columns*k:], k, k, columns)
		}),
		Multiply: each(readTime, func(x *readProbe[S, C], part int) {
			p.Block(x.c, columns, m, columns, k, x.a, x.packed[part*block:], false)
		}),
	}}
	if p.CanRead(ReadDots) {
		costs[ReadDots] = ReadCost{Multiply: each(readTime, func(x *readProbe[S, C], part int) {
			p.MultiplyDots(Run[S]{A: x.a}, x.c, columns, m, columns, k, x.source[part*columns*k:], k, false)
		})}
	}
	return costs
}

// readTimer times what each of some threads does with each part of its B, at once: what
// it returns gives the seconds of one of the elements of a part. Where others disturb, it
// measures again until two times agree.
func readTimer[S Source, C Sum](threads, parts, elements int) func(total time.Duration, f func(x *readProbe[S, C], part int)) float64 {
	probes := make([]readProbe[S, C], threads)
	return func(total time.Duration, f func(x *readProbe[S, C], part int)) float64 {
		const least, most, alike = 2, 5, 0.97
		best, second := 0.0, 0.0
		for try := 0; try < least || try < most && second < alike*best; try++ {
			rate := probe.Team(context.Background(), threads, total, func(thread int) float64 {
				for part := range parts {
					f(&probes[thread], part)
				}
				return float64(parts * elements)
			})
			best, second = max(best, rate), max(second, min(best, rate))
		}
		return float64(threads) / best
	}
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
