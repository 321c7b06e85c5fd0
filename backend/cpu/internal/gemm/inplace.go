package gemm

import (
	"fmt"
	"sync"
	"unsafe"
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
	tile   inPlace[C]
}

// Stored is what multiplies a that a Path packed by a b that is not packed and not of
// the Path's element type: an InPlace for each type in memory, nil for none.
type Stored[C Sum] struct {
	Int4, Int8             *InPlace[C]
	Float8E4M3, Float8E5M2 *InPlace[C]
}

// An inPlace computes rows × (tiles·InPlaceCols(rows)) sums over some steps, of one
// panel of a and a b whose rows are ldb bytes apart, KU of them a step, elements
// from the lowest bits of a byte up:
//
//	for i := range rows {
//		for j := range tiles * InPlaceCols(rows) {
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
// Meanwhile it asks for the memory ahead bytes behind what it reads, which need not
// be b's.
type inPlace[C Sum] func(c *C, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)

// InPlaceCols is how many columns the tiles of an InPlace have for some rows of a, at
// most a panel.
func InPlaceCols(rows int) int {
	switch {
	case rows <= 1:
		return 64
	case rows <= 2:
		return 32
	}
	return 16
}

// mostInPlaceCols is that of the widest.
const mostInPlaceCols = 64

// Block multiplies packed a (m×k) by b (k×n), whose element (l, j) is element
// off+l*ldb+j of the memory, into the m×n corner of c: c = a·b, or c += a·b.
// Any number of rows is right; it pays up to Pays.
func (p *InPlace[C]) Block(c []C, ldc, m, n, k int, a, b []byte, off, ldb int, accumulate bool) {
	if m < 0 || n < 0 || k < 0 || off%p.Whole != 0 || k > 1 && ldb%p.Whole != 0 {
		panic(fmt.Sprintf("gemm: in place %d×%d, k %d, of %s from %d on, rows %d apart", m, n, k, p.Name, off, ldb))
	}
	c = extent(c, m, n, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !accumulate {
			clearBlock(c, ldc, m, n)
		}
		return
	}
	bytes := func(elements int) int { return ceil(elements*p.bits, 8) }
	b = first(b, bytes(off+(k-1)*ldb+n))[bytes(off):]
	panel := p.mr * ceil(k, p.ku)
	words := words(a, ceil(m, p.mr)*panel*wordBytes)
	x := inPlaceRun[C]{InPlace: p, row: bytes(ldb), ldc: ldc, n: n}
	whole, chunk := k/p.ku, inPlaceSteps
	for s := 0; s < whole; s += chunk {
		for i := 0; i < m; i += p.mr {
			x.strip(c[i*ldc:], min(p.mr, m-i), min(chunk, whole-s), words[i/p.mr*panel+s*p.mr:], b[s*p.ku*x.row:], p.ku, accumulate || s > 0)
		}
	}
	if rest := k - whole*p.ku; rest > 0 {
		for i := 0; i < m; i += p.mr {
			x.edge(c[i*ldc:], 0, min(p.mr, m-i), 1, words[i/p.mr*panel+whole*p.mr:], b[whole*p.ku*x.row:], rest, accumulate || whole > 0)
		}
	}
}

// Cut is how many elements of k Block runs over before the next columns of b get
// their turn.
func (p *InPlace[C]) Cut() int { return inPlaceSteps * p.ku }

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
	row    int // bytes from row to row of b
	ldc, n int
}

// strip multiplies one panel of a by some steps of b.
func (x *inPlaceRun[C]) strip(c []C, rows, steps int, a []uint32, b []byte, deep int, accumulate bool) {
	width := InPlaceCols(rows)
	tiles := x.n / width
	if tiles > 0 {
		x.tile(&c[0], x.ldc, steps, &a[0], unsafe.Pointer(&b[0]), x.row, inPlaceAhead, rows, tiles, accumulate)
	}
	if tiles*width < x.n {
		x.edge(c, tiles*width, rows, steps, a, b, deep*steps, accumulate)
	}
}

// edge multiplies from column j on by the deep rows that b has for some steps, in
// copies that are whole tiles.
func (x *inPlaceRun[C]) edge(c []C, j, rows, steps int, a []uint32, b []byte, deep int, accumulate bool) {
	e := inPlaceEdges.Get().(*inPlaceEdge)
	defer inPlaceEdges.Put(e)
	width := InPlaceCols(rows)
	row := mostInPlaceCols * x.bits / 8
	most := len(e.b) / row / x.ku // steps at once
	sums := unsafe.Slice((*C)(unsafe.Pointer(&e.c)), len(e.c))
	for ; j < x.n; j += width {
		cols := min(width, x.n-j)
		from := b[j*x.bits/8:]
		for s := 0; s < steps; s += most {
			some := min(most, steps-s)
			for l := range some * x.ku {
				to := e.b[l*row:][:row]
				copied := 0
				if at := s*x.ku + l; at < deep {
					copied = copy(to, from[at*x.row:][:ceil(cols*x.bits, 8)])
				}
				clear(to[copied:])
			}
			x.tile(&sums[0], mostInPlaceCols, some, &a[s*x.mr], unsafe.Pointer(&e.b), row, 0, rows, 1, s > 0)
		}
		for i := range rows {
			to := c[i*x.ldc+j:][:cols]
			for l, v := range sums[i*mostInPlaceCols:][:cols] {
				if accumulate {
					v += to[l]
				}
				to[l] = v
			}
		}
	}
}

// inPlaceEdge is the memory of edge.
type inPlaceEdge struct {
	c [8 * mostInPlaceCols]uint32
	b [16 << 10]byte
}

var inPlaceEdges = sync.Pool{New: func() any { return new(inPlaceEdge) }}
