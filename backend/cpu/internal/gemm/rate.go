package gemm

import (
	"time"

	"matladder/backend/cpu/internal/probe"
)

// A Rate is how fast one core runs a path, as measured.
type Rate struct {
	FLOPs        float64 // per second, of operands that are packed and in L2; OP/s for integers
	Fetch        float64 // bytes/s of a packed b that comes from beyond L2, where two panels of a meet it
	PackA, PackB float64 // bytes of rows of a and of b per second, from beyond L2
}

// rateTime is how long each of the four figures of a Rate is measured for.
const rateTime = 4 * time.Millisecond

// Rate measures the path on the calling goroutine, in some 20 ms.
func (p *Path[S, C]) Rate() Rate { return p.rateBeyond(max(probe.Host().L2, 512<<10)) }

// rateBeyond is Rate where L2 holds so many bytes.
func (p *Path[S, C]) rateBeyond(l2 int) Rate {
	const runs, deep = 8, 512
	m, n, k := runs*p.MR, runs*p.NR, deep
	if p.Words > 1 { // tiles: panels of some KiB
		m, n, k = 4*p.MR, 4*p.NR, 4*p.KU*p.Words
	}
	a, b, c := Buffer(p.SizeA(m, k)), Buffer(p.SizeB(k, n)), make([]C, m*n)
	// Packing reads a source that L2 does not hold, another part of it each time, and has one
	// part at least.
	rows := max(k, m, packedRows, 4*l2/(size[S]()*wideRow))
	source := make([]S, rows*wideRow)
	var x S
	for i := range source {
		x = pattern(x, i)
		source[i] = x
	}
	p.PackA(a, source, wideRow, m, k)
	p.PackB(b, source, wideRow, k, n)
	r := Rate{FLOPs: 2 * float64(m) * float64(n) * float64(k) / fastest(func() { p.Block(c, n, m, n, k, a, b, false) })}
	few, far := 2*p.MR, Buffer(2*l2)
	wide := len(far) / p.PanelB(k)
	for i := range wide {
		copy(far[i*p.PanelB(k):], b[:p.PanelB(k)])
	}
	wide *= p.NR
	sums := make([]C, few*wide)
	r.Fetch = float64(len(far)) / fastest(func() { p.Block(sums, wide, few, wide, k, a, far, false) })
	at := 0
	next := func(lines int) []S {
		if at+lines > rows {
			at = 0
		}
		part := source[at*wideRow:]
		at += lines
		return part
	}
	bytes := func(elements int) float64 { return float64(elements) * float64(size[S]()) }
	// Of a whole rows, of b rows of some hundred columns, as much as a unit of work has.
	tall, deepA := 4*p.MR, wideRow
	bufferA := Buffer(p.SizeA(tall, deepA))
	r.PackA = bytes(tall*deepA) / fastest(func() { p.PackA(bufferA, next(tall), wideRow, tall, deepA) })
	part := min(wideRow, 16*p.NR)
	bufferB := Buffer(p.SizeB(packedRows, part))
	r.PackB = bytes(packedRows*part) / fastest(func() { p.PackB(bufferB, next(packedRows), wideRow, packedRows, part) })
	return r
}

const (
	wideRow    = 1024 + 64 // elements of a row of what Rate packs: not a power of two
	packedRows = 64
)

// pattern makes numbers that are neither zero nor all alike.
func pattern[S Source](last S, i int) S {
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

// fastest is the least time of a call in seconds.
func fastest(f func()) float64 { return fastestOf(rateTime, f) }

// fastestOf is the least time of a call in seconds, of as many as take so long, and of
// three at least.
func fastestOf(long time.Duration, f func()) float64 {
	f()
	best := time.Duration(1 << 62)
	for begin, n := time.Now(), 0; n < 3 || time.Since(begin) < long; n++ {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return max(best, 1).Seconds()
}
