package timing

import (
	"context"
	"time"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
)

// A Rate is how fast one core runs a path while several do, as measured.
type Rate struct {
	FLOPs        float64 // per second, of operands that are packed and in L2; OP/s for integers
	Fetch        float64 // bytes/s of a packed b that comes from beyond L2, where two panels of a meet it
	PackA, PackB float64 // bytes of rows of a and of b per second, from beyond L2
}

// rateTime is how long each of the four figures of a Rate is measured for.
const rateTime = 4 * time.Millisecond

// RateOf measures a path on so many threads at once, in some 20 ms: they share caches, and the
// clock is lower when all run. It is zero if ctx ends first.
func RateOf[S gemm.Source, C gemm.Sum](ctx context.Context, p *gemm.MicroKernels[S, C], threads int) Rate {
	return rateBeyond(ctx, p, max(1, threads), max(probe.Host().L2, 512<<10))
}

// rateBeyond is RateOf where L2 holds so many bytes.
func rateBeyond[S gemm.Source, C gemm.Sum](ctx context.Context, p *gemm.MicroKernels[S, C], threads, l2 int) Rate {
	const runs, deep = 8, 512
	m, n, k := runs*p.MR, runs*p.NR, deep
	if p.Words > 1 { // tiles: panels of some KiB
		m, n, k = 4*p.MR, 4*p.NR, 4*p.KU*p.Words
	}
	var (
		// Whole rows of a are packed, and rows of some hundred columns of b: as much as a unit
		// of work has.
		tall, part = 4 * p.MR, min(wideRow, 16*p.NR)
		rows       = max(k, m, packedRows, 4*l2/(memory.Size[S]()*wideRow))
		source     = wideRows[S]{rows, patterns[S](rows * wideRow)}
		few, wide  = 2 * p.MR, max(1, 2*l2/p.PanelB(k)) // rows, panels
		all        = make([]rated[S, C], threads)
		bytes      = func(elements int) float64 { return float64(elements) * float64(memory.Size[S]()) }
		atOnce     = func(work func(x *rated[S, C]) float64) float64 {
			sum, _ := probe.OwnRates(ctx, threads, rateTime, func(member int) float64 { return work(&all[member]) })
			return sum / float64(threads)
		}
	)
	probe.Each(ctx, threads, func(member int) {
		x := &all[member]
		x.a, x.b, x.far = memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n)), memory.NewBuffer(wide*p.PanelB(k))
		x.bufferA, x.bufferB = memory.NewBuffer(p.SizeA(tall, wideRow)), memory.NewBuffer(p.SizeB(packedRows, part))
		x.c = make([]C, max(m*n, few*wide*p.NR))
		x.at = place{row: member * rows / threads}
		p.PackA(x.a, source.elements, wideRow, m, k)
		p.PackB(x.b, source.elements, wideRow, k, n)
		for i := range wide {
			copy(x.far[i*p.PanelB(k):], x.b[:p.PanelB(k)])
		}
	})
	return Rate{
		FLOPs: atOnce(func(x *rated[S, C]) float64 {
			p.Block(x.c, n, m, n, k, x.a, x.b, false)
			return 2 * float64(m) * float64(n) * float64(k)
		}),
		Fetch: atOnce(func(x *rated[S, C]) float64 {
			p.Block(x.c, wide*p.NR, few, wide*p.NR, k, x.a, x.far, false)
			return float64(len(x.far))
		}),
		PackA: atOnce(func(x *rated[S, C]) float64 {
			p.PackA(x.bufferA, source.next(&x.at, tall, wideRow), wideRow, tall, wideRow)
			return bytes(tall * wideRow)
		}),
		PackB: atOnce(func(x *rated[S, C]) float64 {
			for range partsOfB {
				p.PackB(x.bufferB, source.next(&x.at, packedRows, part), wideRow, packedRows, part)
			}
			return partsOfB * bytes(packedRows*part)
		}),
	}
}

// rated is what one thread multiplies and packs.
type rated[S gemm.Source, C gemm.Sum] struct {
	a, b, far        []byte // packed; far is larger than L2
	bufferA, bufferB []byte // what is packed goes there
	c                []C
	at               place // of what is packed next
}

const (
	packedRows = 64
	partsOfB   = 4         // timed together, as one takes a few microseconds
	wideRow    = 1024 + 64 // elements: not a power of two
)

// wideRows is a matrix that L2 does not hold, whose rows are no power of two: packing reads
// another part of it each time.
type wideRows[S gemm.Source] struct {
	rows     int
	elements []S
}

// A place is where a part of a matrix begins.
type place struct{ row, column int }

// next is the part at a place, which it moves on: to the right, then to the rows below, at the
// end back to the top.
func (w wideRows[S]) next(at *place, rows, columns int) []S {
	if at.column+columns > wideRow {
		at.row, at.column = at.row+rows, 0
	}
	if at.row+rows > w.rows {
		at.row = 0
	}
	part := w.elements[at.row*wideRow+at.column:]
	at.column += columns
	return part
}

// pattern makes numbers that are neither zero nor all alike.
func pattern[S gemm.Source](last S, i int) S {
	switch x := any(&last).(type) {
	case *float32:
		*x = float32(i%17) - 8.5
	case *uint16:
		*x = 0x3f80 + uint16(i%61)
	case *int8:
		*x = int8(i%201 - 100)
	case *uint8:
		*x = uint8(i % 251)
	}
	return last
}
