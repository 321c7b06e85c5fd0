// Package timing measures what products take of the cores of this machine: each way to read B
// (ReadCosts), and how fast packed panels are multiplied, fetched and packed (RateOf).
package timing

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"time"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// ReadCosts measures each way in which a *gemm.MicroKernels reads B, on so many threads at once, for
// about so many rows of A, at most MostRead, and a B of about so many bytes, of which each
// thread has its part, in rows some bytes apart; or, where depth is not 0, of one whose
// columns are rows of memory, of depth elements one behind the other. It takes some
// milliseconds, once for each kind of B.
func ReadCosts(path any, threads, rows int, bytes int64, apart, depth int) map[gemm.ReadB]gemm.ReadCost {
	switch p := path.(type) {
	case *gemm.MicroKernels[float32, float32]:
		return readCosts(p, threads, rows, bytes, apart, depth)
	case *gemm.MicroKernels[uint16, float32]:
		return readCosts(p, threads, rows, bytes, apart, depth)
	case *gemm.MicroKernels[int8, int32]:
		return readCosts(p, threads, rows, bytes, apart, depth)
	case *gemm.MicroKernels[uint8, int32]:
		return readCosts(p, threads, rows, bytes, apart, depth)
	}
	panic("timing: not a path")
}

func readCosts[S gemm.Source, C gemm.Sum](p *gemm.MicroKernels[S, C], threads, rows int, bytes int64, apart, depth int) map[gemm.ReadB]gemm.ReadCost {
	const least, most = 16, 1024 // elements of such a column
	key := readKey{p.Name, memory.Size[S](), gemm.Choices{Run: p.Run, PieceA: p.PieceA}, threads, representative(rows), partOf(bytes, threads), rowOf(apart), 0}
	if depth > 0 {
		key.row, key.depth = 0, 1<<bits.Len(uint(min(max(depth, least), most)-1))
	}
	measuredReads.Lock()
	defer measuredReads.Unlock()
	costs, ok := measuredReads.of[key]
	if !ok {
		if depth > 0 {
			costs = measureTransposed(p, threads, key.rows, key.part, key.depth)
		} else {
			costs = measureReads(p, threads, key.rows, key.part, key.row)
		}
		measuredReads.of[key] = costs
	}
	return costs
}

type readKey struct {
	path    string
	size    int // bytes of an element, which paths of one name may differ in
	choices gemm.Choices
	threads int
	rows    int
	part    int // bytes of B that a thread has
	row     int // bytes from row to row of B
	depth   int // of a B whose columns are rows of memory; 0 for others
}

// rowOf is about how many bytes rows of B are apart: just as many where they fall into few
// sets of the caches. Rows that begin anywhere in a line do so here too: vectors of them
// reach into the next.
func rowOf(apart int) int {
	if apart%sameSets == 0 {
		return apart
	}
	row := 1 << bits.Len(uint(max(apart, memory.CacheLine)-1)) // of short ones
	if apart > shortRow {
		row = roundly(apart)/memory.CacheLine*memory.CacheLine + 3*memory.CacheLine
	}
	if aligned := apart & -apart; aligned < memory.CacheLine && row > memory.CacheLine {
		row += aligned - memory.CacheLine
	}
	return row
}

// roundly is n with three bits that are not zero.
func roundly(n int) int {
	step := 1 << max(0, bits.Len(uint(n))-3)
	return n / step * step
}

// shortRows is how many short rows a block has, which follow each other.
const shortRows = 512

const (
	shortRow   = 512 // bytes: B with rows up to so long is gone down, not along
	fewColumns = 4   // that dot products are summed for at once
)

// sameSets is a distance in bytes: rows of B that lie a multiple of it apart share few sets
// of the caches.
const sameSets = 512

// measuredReads are those of this process; who measures has the lock, so that two do not
// disturb each other.
var measuredReads = struct {
	sync.Mutex
	of map[readKey]map[gemm.ReadB]gemm.ReadCost
}{of: map[readKey]map[gemm.ReadB]gemm.ReadCost{}}

// representative is a number of rows near enough to stand for so many.
func representative(rows int) int {
	switch rows = min(max(rows, 1), gemm.MostRead); {
	case rows <= 8:
		return rows
	case rows <= 64:
		return tile.Ceil(rows, 4) * 4
	}
	return tile.Ceil(rows, 8) * 8
}

// partOf is about as many bytes as each thread has of a B: as many decide which cache it
// comes from.
func partOf(bytes int64, threads int) int {
	most := max(2*max(probe.Host().L2, 512<<10), mostProbed/threads)
	part := max(leastProbed, int(min(bytes/int64(threads), int64(most))))
	return roundly(part)
}

const (
	leastProbed = 64 << 10  // bytes of a thread
	mostProbed  = 128 << 20 // bytes of all threads, but for as many as lie beyond L2
)

// A readProbe is what one thread measures with: its part of a B, which it reads in blocks
// of all rows and some columns.
type readProbe[S gemm.Source, C gemm.Sum] struct {
	thread    int
	source    []S
	rows      []S // A
	a, packed []byte
	c         []C
	work      []byte // of a piece
}

// operands makes A, a packed copy of it, and memory for a packed B, for sums of some columns
// and for a piece of B.
func (x *readProbe[S, C]) operands(p *gemm.MicroKernels[S, C], m, k, columns, sums int) {
	x.a, x.packed, x.c = memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, columns)), make([]C, m*sums)
	x.rows, x.work = patterns[S](m*k), memory.NewBuffer(p.With(gemm.Choices{B: gemm.ReadPieces}).DirectWork(m, k))
	p.PackA(x.a, x.rows, k, m, k)
}

// A readTask is what each thread does with a part of its B.
type readTask[S gemm.Source, C gemm.Sum] func(x *readProbe[S, C], part int)

// packedTasks pack a B block by block, each where the last one was; the second also multiplies each for
// its columns of C, which has those of so many blocks and shares the caches with B.
func packedTasks[S gemm.Source, C gemm.Sum](p *gemm.MicroKernels[S, C], m, k, columns, along int, pack readTask[S, C]) []readTask[S, C] {
	return []readTask[S, C]{pack, func(x *readProbe[S, C], part int) {
		pack(x, part)
		p.Block(x.c[part%along*columns:], columns*along, m, columns, k, x.a, x.packed, false)
	}}
}

// costsOf are the times of packedTasks, and of as many others as there are other ways.
func costsOf(times []float64, others []gemm.ReadB) map[gemm.ReadB]gemm.ReadCost {
	costs := map[gemm.ReadB]gemm.ReadCost{gemm.ReadPacked: {Pack: times[0], Multiply: max(0, times[1]-times[0])}}
	for i, read := range others {
		costs[read] = gemm.ReadCost{Multiply: times[2+i]}
	}
	return costs
}

// measureReads measures on so many threads at once, as they share caches and memory. Each
// has columns of its own of one B, or rows where they are short.
func measureReads[S gemm.Source, C gemm.Sum](p *gemm.MicroKernels[S, C], threads, m, part, row int) map[gemm.ReadB]gemm.ReadCost {
	const most = 512 // columns of a block
	ld, all := row/memory.Size[S](), max(1, part*threads/row)
	share := ld / threads
	k, columns := all, max(p.NR, share/tile.Ceil(max(1, share), most)/p.NR*p.NR)
	along := max(1, ld/threads/columns) // blocks of one part of rows, which a B in place is read along
	parts, apart, first := along, columns, max(0, ld-along*columns)/max(1, threads-1)
	if row <= shortRow {
		k, columns, along = min(shortRows, max(1, all/threads)), ld, 1
		parts, apart = max(1, all/threads/k), k*ld
		first = parts * apart
	}
	source := memory.NewBuffer((all + 1) * row) // one more for vectors that go beyond the last
	far := int64(len(source)) > int64(probe.Host().L2)
	probes := newReadProbes(threads, func(x *readProbe[S, C]) {
		share := len(source) / threads / memory.CacheLine * memory.CacheLine
		fill(memory.View[S](source[x.thread*share:][:share]))
		x.source = memory.View[S](source)[x.thread*first:]
		x.operands(p, m, k, columns, columns*along)
	})
	tasks := packedTasks(p, m, k, columns, along, func(x *readProbe[S, C], part int) {
		p.PackB(x.packed, x.source[part*apart:], ld, k, columns)
	})
	var others []gemm.ReadB
	for _, read := range []gemm.ReadB{gemm.ReadTiles, gemm.ReadStreams, gemm.ReadPieces} {
		if p.CanRead(read) {
			q := p.With(gemm.Choices{B: read})
			others = append(others, read)
			tasks = append(tasks, func(x *readProbe[S, C], part int) {
				if part%along == 0 {
					run := x.run(p, k)
					run.Far = far
					q.MultiplyDirect(run, x.c, columns*along, m, columns*along, k, x.source[part*apart:], ld, false)
				}
			})
		}
	}
	return costsOf(timeReads(probes, parts, k*columns, tasks), others)
}

// run has rows of A as they lie, where that can be.
func (x *readProbe[S, C]) run(p *gemm.MicroKernels[S, C], k int) gemm.Run[S] {
	if p.ReadsA(k) {
		return gemm.Run[S]{Rows: x.rows, LDA: k, Work: x.work}
	}
	return gemm.Run[S]{A: x.a, Work: x.work}
}

// measureTransposed is measureReads for a B whose columns are rows of memory.
func measureTransposed[S gemm.Source, C gemm.Sum](p *gemm.MicroKernels[S, C], threads, m, part, k int) map[gemm.ReadB]gemm.ReadCost {
	n := max(fewColumns, part/(k*memory.Size[S]()))
	columns := min(512, n)
	probes := newReadProbes(threads, func(x *readProbe[S, C]) {
		x.source = patterns[S](k * n)
		x.operands(p, m, k, columns, columns)
	})
	tasks := packedTasks(p, m, k, columns, 1, func(x *readProbe[S, C], part int) {
		p.PackBT(x.packed, x.source[part*columns*k:], k, k, columns)
	})
	var others []gemm.ReadB
	if p.CanRead(gemm.ReadDots) {
		others = append(others, gemm.ReadDots)
		tasks = append(tasks, func(x *readProbe[S, C], part int) {
			p.MultiplyDots(gemm.Run[S]{A: x.a}, x.c, columns, m, columns, k, x.source[part*columns*k:], k, false)
		})
	}
	return costsOf(timeReads(probes, n/columns, k*columns, tasks), others)
}

// newReadProbes are as many as threads, each made by its own.
func newReadProbes[S gemm.Source, C gemm.Sum](threads int, operands func(x *readProbe[S, C])) []readProbe[S, C] {
	probes := make([]readProbe[S, C], threads)
	probe.Each(context.Background(), threads, func(thread int) {
		probes[thread].thread = thread
		operands(&probes[thread])
	})
	return probes
}

// timeReads are the seconds of one of the elements of a part in each of some tasks, which all
// threads do at once with all parts of their B. Tasks take turns, so that what disturbs the
// machine for a while disturbs all alike, until two times of each agree. One that takes half as
// long again as another has two turns, of some rounds each: a core that others took makes one look so.
func timeReads[S gemm.Source, C gemm.Sum](probes []readProbe[S, C], parts, elements int, tasks []readTask[S, C]) []float64 {
	const least, most, alike, hopeless = 2, 8, 0.96, 2. / 3
	best, second := make([]float64, len(tasks)), make([]float64, len(tasks))
	agree := false
	for turn := 0; turn < least || turn < most && !agree; turn++ {
		agree = true
		for i, task := range tasks {
			if turn >= least && best[i] < hopeless*slices.Max(best[1:]) && i > 1 {
				continue
			}
			rate, _ := probe.OwnRates(context.Background(), len(probes), readTime, func(thread int) float64 {
				for part := range parts {
					task(&probes[thread], part)
				}
				return float64(parts * elements)
			})
			best[i], second[i] = max(best[i], rate), max(second[i], min(best[i], rate))
			agree = agree && second[i] >= alike*best[i]
		}
	}
	for i := range best {
		best[i] = float64(len(probes)) / best[i]
	}
	return best
}

// patterns are n numbers of pattern, in memory of their own.
func patterns[S gemm.Source](n int) []S {
	x := memory.View[S](memory.NewBuffer(n * memory.Size[S]()))
	fill(x)
	return x
}

// fill has numbers of pattern in x.
func fill[S gemm.Source](x []S) {
	const period = 1021
	for i := range min(period, len(x)) {
		x[i] = pattern(x[max(0, i-1)], i)
	}
	for done := period; done < len(x); done *= 2 {
		copy(x[done:], x[:done])
	}
}

// readTime is how long each way to read B is measured for, at least.
const readTime = 500 * time.Microsecond
