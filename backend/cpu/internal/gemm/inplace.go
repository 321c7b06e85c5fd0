package gemm

import (
	"fmt"
	"sync"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// An InPlace multiplies a few packed rows of a by a b that lies in memory as it is
// stored: not packed, and of elements that may be narrower than what is multiplied.
// They are widened in registers.
type InPlace[C Sum] struct {
	Name  string // of the elements of b
	Pays  int    // rows of a up to which it is faster than to widen b and pack it, as measured
	Whole int    // elements of b in a row, and before its first, are a multiple of this

	bits   int // of an element of b
	ku, mr int // of the path that packs a
	steps  int // that a tile runs over, at most inPlaceSteps
	tiles  []inPlaceTiles
	tile   inPlace[C] // nil if quick is for all words and rows
	quick  quick[C]
	pieces inPlacePieces[C]

	// grouped, which Block calls, is tile for rows of b that share scales: those of a tile's columns,
	// by which it multiplies sums before it stores or adds them.
	grouped func(c *C, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, scales *float32, accumulate bool)
	height  int // rows of a that it takes at once
}

// GroupsOfB are elements of k that share scales: First of the first group are ahead of those that are
// multiplied. Row sets to to the scales of a group, from a column on.
type GroupsOfB struct {
	First, Size int
	Row         func(to []float32, column, group int)
}

// inPlaceTiles is how many columns tiles have for up to so many rows of a.
type inPlaceTiles struct{ rows, cols int }

// A quick is an InPlace's tile for words of a that it makes itself.
type quick[C Sum] struct {
	tile inPlace[C]
	rows int // of a, up to which there is one
	// words writes those of so many steps and rows, and what else the tile needs; it
	// reports false for words that the tile is not for.
	words func(dst, a []uint32, mr, rows, steps int) bool
}

// fewInPlaceRows is up to how many rows of a a quick InPlace of AVX2 serves machines with
// wider vectors too. That is not measured there. On AVX2 widening b ahead of the
// multiplication takes 1.8 (int4 to floats) to 2.6 times (int4 to int8) as long for
// one or two rows of a; wider vectors halve the arithmetic of that at best, not the
// writing and reading of what is widened. An int8 is left to their own ways.
const fewInPlaceRows = 2

// An inPlace computes rows × (tiles·Cols(rows)) sums over some steps, of one panel of a and a b
// whose rows are ldb bytes apart, KU of them a step, elements from the lowest bits of a byte up:
//
//	for i := range rows {
//		for j := range tiles * Cols(rows) {
//			s := 0
//			for l := range steps {
//				s += dot(a[l*MR+i], word(b[l*KU][j], …, b[l*KU+KU-1][j]))
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// Panels of a have six rows. Meanwhile it asks for the memory ahead bytes behind what it reads, which need not
// be b's. It returns how many tiles it has done: a quick one stops before one that
// it is not for.
type inPlace[C Sum] func(c *C, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool) (done int)

// Cols is how many columns tiles have for some rows of a.
func (p *InPlace[C]) Cols(rows int) int {
	for _, t := range p.tiles {
		if rows <= t.rows {
			return t.cols
		}
	}
	return p.tiles[len(p.tiles)-1].cols
}

// mostInPlaceCols is the most of them.
const mostInPlaceCols = 64

// Block multiplies packed a (m×k) by b (k×n), whose element (l, j) is element off+l*ldb+j of the
// memory, into the m×n corner of c: c = a·b, or c += a·b. Any number of rows is right; it pays up
// to Pays. work is as many bytes as Work, on a cache line; nil for memory of its own. Groups of
// elements of k have the scales of by, none if that is zero.
func (p *InPlace[C]) Block(c []C, ldc, m, n, k int, a, b []byte, off, ldb int, accumulate bool, work []byte, by GroupsOfB) {
	if m < 0 || n < 0 || k < 0 || off%p.Whole != 0 || k > 1 && ldb%p.Whole != 0 {
		panic(fmt.Sprintf("gemm: in place %d×%d, k %d, of %s from %d on, rows %d apart", m, n, k, p.Name, off, ldb))
	}
	c = extent(c, m, n, ldc)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	bytes := func(elements int) int { return ceil(elements*p.bits, 8) }
	b = first(b, bytes(off+(k-1)*ldb+n))[bytes(off):]
	panel := p.mr * ceil(k, p.ku)
	x := inPlaceRun[C]{InPlace: p, c: c, ldc: ldc, m: m, n: n, k: k, a: words(a, ceil(m, p.mr)*panel*wordBytes), panel: panel, b: b, row: bytes(ldb),
		accumulate: accumulate, work: inPlaceWorks.Get().(*inPlaceWork), by: by, height: p.mr}
	defer inPlaceWorks.Put(x.work)
	if by.Size > 0 {
		x.height = p.height
		if more := n + mostInPlaceCols; cap(x.work.scales) < more {
			x.work.scales = make([]float32, more)
		}
		x.scales = x.work.scales[:n+mostInPlaceCols]
	}
	done := 0
	if p.Read(m, 0) == ReadPieces {
		done = x.inPieces(work)
	}
	x.tilesFrom(done)
}

// Read is how Block reads B for m rows of A: tiles along its rows, or pieces.
func (p *InPlace[C]) Read(m, _ int) ReadB {
	if p.pieces.rows > 0 && m >= p.pieces.rows {
		return ReadPieces
	}
	return ReadAlong
}

// Work is the number of bytes of memory that Block of m rows wants.
func (p *InPlace[C]) Work(m, _ int) int {
	if p.Read(m, 0) != ReadPieces {
		return 0
	}
	return inPieceSteps * inPieceColumns * wordBytes
}

// Blocking is how many elements of k, and how many of n columns, by tiles of so many rows and columns, Block runs
// over before the next of b get their turn.
func (p *InPlace[C]) Blocking(m, n, _, _ int, _ bool) (run, cols int, tile [2]int) {
	if p.Read(m, 0) == ReadPieces {
		return inPieceSteps, min(n, inPieceColumns), [2]int{p.mr, p.Cols(m)}
	}
	return p.steps * p.ku, n, [2]int{p.mr, p.Cols(m)}
}

// How many steps a tile runs over, and how far along its rows b is asked for, in
// bytes, as measured: rows more than those, each a stream of its own, or longer
// parts of them, drive each other out of the first-level cache.
const (
	inPlaceSteps = 16
	inPlaceAhead = 128
)

// inPlaceRun is a call of Block.
type inPlaceRun[C Sum] struct {
	*InPlace[C]
	c            []C
	ldc, m, n, k int
	a            []uint32
	panel        int // words
	b            []byte
	row          int // bytes from row to row of b
	accumulate   bool
	work         *inPlaceWork
	by           GroupsOfB
	scales       []float32 // of the current group; nil for none
	height       int       // rows of a that tiles take at once
}

// tilesFrom multiplies columns from j on.
func (x *inPlaceRun[C]) tilesFrom(j int) {
	for l := 0; l < x.k && j < x.n; {
		deep := min(x.steps*x.ku, x.k-l)
		if at := x.by.First + l; x.by.Size > 0 {
			deep = min(deep, x.by.Size-at%x.by.Size)
			if l == 0 || at%x.by.Size == 0 {
				x.by.Row(x.scales[:x.n], 0, at/x.by.Size)
			}
		}
		if whole := deep / x.ku * x.ku; whole > 0 {
			deep = whole // the last rows may be no step
		}
		for i := 0; i < x.m; i += x.height {
			x.strip(x.c[i*x.ldc:], j, min(x.height, x.m-i), deep, x.a[i/x.mr*x.panel+l/x.ku*x.mr+i%x.mr:], x.b[l*x.row:], x.accumulate || l > 0)
		}
		l += deep
	}
}

// strip multiplies one panel of a by deep rows of b, columns from j on.
func (x *inPlaceRun[C]) strip(c []C, j, rows, deep int, a []uint32, b []byte, accumulate bool) {
	width, steps := x.Cols(rows), ceil(deep, x.ku)
	if tiles := (x.n - j) / width; tiles > 0 && deep%x.ku == 0 {
		x.along(c[j:], x.ldc, rows, steps, a, b[j*x.bits/8:], x.row, inPlaceAhead, tiles, j, accumulate)
		j += tiles * width
	}
	if j < x.n {
		x.edge(c, j, rows, steps, a, b, deep, accumulate)
	}
}

// along multiplies by some tiles of b, from column j on.
func (x *inPlaceRun[C]) along(c []C, ldc, rows, steps int, a []uint32, b []byte, ldb, ahead, tiles, j int, accumulate bool) {
	if x.scales != nil {
		x.grouped(&c[0], ldc, steps, &a[0], unsafe.Pointer(&b[0]), ldb, ahead, rows, tiles, &x.scales[j], accumulate)
		return
	}
	run := func(tile inPlace[C], a []uint32, first, tiles int) int {
		j := first * x.Cols(rows)
		return tile(&c[j], ldc, steps, &a[0], unsafe.Pointer(&b[j*x.bits/8]), ldb, ahead, rows, tiles, accumulate)
	}
	done, step := 0, tiles
	quick := x.work.a[:]
	if rows <= x.quick.rows && x.quick.words(quick, a, x.mr, rows, steps) {
		done, step = run(x.quick.tile, quick, 0, tiles), 1
	}
	for done < tiles {
		done += run(x.tile, a, done, step)
		if done < tiles {
			done += run(x.quick.tile, quick, done, tiles-done)
		}
	}
}

// edge multiplies from column j on by the deep rows that b has for some steps, in
// copies that are whole tiles.
func (x *inPlaceRun[C]) edge(c []C, j, rows, steps int, a []uint32, b []byte, deep int, accumulate bool) {
	width, e := x.Cols(rows), x.work
	row := mostInPlaceCols * x.bits / 8
	sums := unsafe.Slice((*C)(unsafe.Pointer(&e.c)), len(e.c))
	for ; j < x.n; j += width {
		cols := min(width, x.n-j)
		from := b[j*x.bits/8:]
		for l := range steps * x.ku {
			to := e.b[l*row:][:row]
			copied := 0
			if l < deep {
				copied = copy(to, from[l*x.row:][:ceil(cols*x.bits, 8)])
			}
			clear(to[copied:])
		}
		x.along(sums, mostInPlaceCols, rows, steps, a, e.b[:], row, 0, 1, j, false)
		storeSums(c[j:], x.ldc, sums, mostInPlaceCols, rows, cols, accumulate)
	}
}

// inPlaceWork is the memory of a call: words for a quick, and the copies of edge.
type inPlaceWork struct {
	a [8 * (inPlaceSteps + 1)]uint32
	c [8 * mostInPlaceCols]uint32
	b [2 * inPlaceSteps * mostInPlaceCols]byte

	scales []float32
}

var inPlaceWorks = sync.Pool{New: func() any { return new(inPlaceWork) }}

// unlessGreat are the words of a quick that multiplies numbers by a power of two,
// for those between -limit and limit.
func unlessGreat(scale, limit float32) func(dst, a []uint32, mr, rows, steps int) bool {
	return func(dst, a []uint32, mr, rows, steps int) bool {
		from, to := memory.View[float32](memory.BytesOf(a[:steps*mr])), memory.View[float32](memory.BytesOf(dst[:steps*mr]))
		for i := range rows {
			for l := i; l < len(from) && l < len(to); l += mr {
				v := from[l]
				if !(v > -limit && v < limit) {
					return false
				}
				to[l] = v * scale
			}
		}
		return true
	}
}

// offsetPairs are the words of a quick that multiplies pairs of int8 by numbers offset by eight:
// the pair as bytes, twice, and at the end what undoes that, as int16, twice.
func offsetPairs(dst, a []uint32, mr, rows, steps int) bool {
	const twice = 1<<16 | 1
	for i := range rows {
		var sum uint32
		for l := i; l < steps*mr; l += mr {
			w := a[l]
			dst[l] = (w&0xff | w>>8&0xff00) * twice
			sum += w + w>>16
		}
		dst[steps*mr+i] = (-(8 * sum) & 0xffff) * twice
	}
	return true
}

// inPlacePieces widens pieces of b and packs them in one go, for more rows of a than
// one or two tiles have.
type inPlacePieces[C Sum] struct {
	rows  int // of a from which it pays; 0 for never
	panel int // columns
	tile  tile[C]
	// widen writes some steps of panels of sixteen columns, which lie panel bytes apart.
	widen func(dst *C, panel, steps int, b unsafe.Pointer, ldb, ahead, tiles int)
}

const (
	inPieceSteps   = 96
	inPieceColumns = 512
)

// inPieces is Block piece by piece, for whole panels of columns, whose number it returns:
// each piece is widened into work, which stays in L2, and while it is multiplied rows of the
// next one are asked for.
func (x *inPlaceRun[C]) inPieces(work []byte) int {
	if work == nil {
		work = memory.NewBuffer(x.Work(x.m, 0))
	}
	wide, nr := words(work, x.Work(x.m, 0)), x.pieces.panel
	whole := x.n / nr * nr
	for j := 0; j < whole; j += inPieceColumns {
		tiles := min(inPieceColumns, whole-j) / nr
		for s := 0; s < x.k; s += inPieceSteps {
			steps := min(inPieceSteps, x.k-s)
			from := x.b[s*x.row+j*x.bits/8:]
			next := ahead{stride: uintptr(x.row)}
			switch {
			case s+steps < x.k:
				next.of(unsafe.Pointer(&from[steps*x.row]), min(inPieceSteps, x.k-s-steps))
			case j+inPieceColumns < whole:
				next.of(unsafe.Pointer(&x.b[(j+inPieceColumns)*x.bits/8]), min(inPieceSteps, x.k))
			}
			for l := 0; l < steps; l += inPlaceSteps {
				x.pieces.widen((*C)(unsafe.Pointer(&wide[l*nr])), steps*nr*wordBytes, min(inPlaceSteps, steps-l), unsafe.Pointer(&from[l*x.row]), x.row, inPlaceAhead, tiles)
			}
			for t := range tiles {
				for i := 0; i < x.m; i += x.mr {
					x.pieces.tile(&x.c[i*x.ldc+j+t*nr], x.ldc, steps, &x.a[i/x.mr*x.panel+s*x.mr], &wide[t*steps*nr], nil,
						next.row(), min(x.mr, x.m-i), nr, x.accumulate || s > 0)
				}
			}
		}
	}
	return whole
}
