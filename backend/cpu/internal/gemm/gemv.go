package gemm

import (
	"fmt"
	"sync"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A gemvKernel multiplies rows of a as they lie by few columns of b, each a vector of its own.
type gemvKernel[C Sum] struct {
	run            gemv[C] // nil if there is none
	columns, lanes int     // at most, and of a vector
	deep           int     // elements in a word of a column
	widens         bool    // bfloat16, of which words of columns are as widenColumns makes them
	spread         spread[C]
	outer          spread[C]                                  // by rows as outerRows brings them; nil if there is none
	outerWords     int                                        // of a row of a, up to which that is faster: of bfloat16 each is one, of int8 four
	flat           spread[C]                                  // for few rows and 2 … columns, of int8 four, of a b whose rows have no gaps between; nil if there is none
	bias           func(dst, a *uint32, lda, steps, rows int) // of columns of int8, as that of a rowsKernel
}

// A gemv computes rows × cols dot products of rows of a, lda bytes apart, and of columns of b,
// gemvColumn words apart, or of such words as widenColumns makes:
//
//	for i := range rows {
//		for j := range cols {
//			s := bias[i*cols+j] // of as many as a vector has lanes: 0 but for int8, where it is -128·(the sum of a column)
//			for l := range k {
//				s += a[i][l] * b[j][l] // int8: (128+a[i][l]) * b[j][l]
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// Each sum is kept in as many parts as a vector has lanes.
type gemv[C Sum] func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *C, accumulate bool)

// A spread does what a gemv of float32 does by a b that lies in memory as rows, ldb bytes apart, of up to as
// many columns as a vector has lanes: each has a sum of its own, to which products are added one by one.
type spread[C Sum] func(c *C, ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int, accumulate bool)

const (
	shallow = 64 // elements of k, up to which a copy of columns takes longer than it saves
	rowsPay = 4  // of a for each column, from which it is worth its time

	gemvSteps   = 1024 // of columns that are copied at once
	gemvColumn  = gemvSteps + 16
	gemvColumns = 8 // the most of any gemv

	outerColumns = 64 // words from row to row of an outer's b
)

// gemvWork are the columns of a call, and what sums start from.
type gemvWork struct {
	b    [gemvColumns * gemvColumn]uint32
	bias [16]uint32
}

var gemvWorks = sync.Pool{New: func() any { return new(gemvWork) }}

// copyColumns copies columns of rows that lie ld elements apart, to those from first on.
func copyColumns[T any](w *gemvWork, first int, from []T, ld, rows, cols int) {
	done := 0
	for ; memory.Size[T]() == 1 && done+4 <= rows && (done+3)*ld+(cols+3)&^3 <= len(from); done += 4 {
		for j := 0; j < cols; j += 4 {
			copyQuads((*[3*gemvColumn + 1]uint32)(unsafe.Pointer(&w.b[(first+j)*gemvColumn+done/4])), at(from, done*ld+j), ld)
		}
	}
	for j := range cols {
		to, at := unsafe.Slice((*T)(unsafe.Pointer(&w.b[(first+j)*gemvColumn])), gemvSteps*wordBytes/memory.Size[T]())[:rows], done*ld+j
		for l := done; l < rows; l++ {
			to[l] = from[at]
			at += ld
		}
	}
}

// copyQuads copies four rows of four bytes, ld apart, to words of four columns.
func copyQuads(to *[3*gemvColumn + 1]uint32, from unsafe.Pointer, ld int) {
	const bytes, half = 0x00ff00ff00ff00ff, 0xffff0000 // every other one
	row := func(u int) uint64 { return uint64(*(*uint32)(unsafe.Add(from, u*ld))) }
	low, high := row(0)|row(2)<<32, row(1)|row(3)<<32
	even, odd := low&bytes|high&bytes<<8, low>>8&bytes|high&^bytes // columns
	to[0], to[2*gemvColumn] = uint32(even)&^half|uint32(even>>16)&half, uint32(even)>>16|uint32(even>>32)&half
	to[gemvColumn], to[3*gemvColumn] = uint32(odd)&^half|uint32(odd>>16)&half, uint32(odd)>>16|uint32(odd>>32)&half
}

// widenColumns copies columns as copyColumns does: bfloat16, or their words, as float32. Of each 32 the even ones
// come first, and zeros behind all.
func widenColumns[T uint16 | uint32](w *gemvWork, first int, from []T, ld, k, cols int) {
	const group = 32
	shift := 32 - 8*memory.Size[T]()
	for j := range cols {
		to := w.b[(first+j)*gemvColumn:][:ceil(k, group)*group]
		clear(to[k/group*group:])
		for odd := range 2 {
			at := odd*ld + j
			for l := 0; l < k; l += group {
				half := to[l+odd*group/2:][:(min(k-l, group)+1-odd)/2]
				for i := range half {
					half[i] = uint32(from[at]) << (shift & 31)
					at += 2 * ld
				}
			}
		}
	}
}

// sums sets what sums of int8 start from for columns of k elements, by what does so for whole words.
func (w *gemvWork) sums(bias func(dst, a *uint32, lda, steps, rows int), columns unsafe.Pointer, k, cols int) {
	bias(&w.bias[0], (*uint32)(columns), gemvColumn*wordBytes, k/4, cols)
	for i := range w.bias {
		if i >= cols {
			w.bias[i] = w.bias[i-cols]
			continue
		}
		for _, v := range unsafe.Slice((*int8)(unsafe.Add(columns, i*gemvColumn*wordBytes)), k)[k&^3:] {
			w.bias[i] -= 128 * uint32(v)
		}
	}
}

// spreads reports whether n columns of so many elements are faster by a spread. As measured a sum takes as
// long for each vector, and three more to add up its lanes, as six sevenths of an element of a row.
func (x *gemvKernel[C]) spreads(n, k int) bool {
	return x.spread != nil && 6*min(n, x.columns)*(ceil(k, x.lanes)+3) >= 7*(k+1)
}

// flats reports whether m rows by n columns of so many elements are faster by a flat, if rows of b have no
// gaps between.
func (x *gemvKernel[C]) flats(m, n, k int) bool {
	return x.flat != nil && n > 1 && n <= x.columns && (x.deep == 1 || n == 4) && k > shallow && m < rowsPay*n
}

// outers is how many columns an outer takes at once, if n columns of k elements are faster by it: rows have few
// words, or columns of int8 fill less than the vectors of a tile. Else it is 0.
func (p *MicroKernels[S, C]) outers(n, k int) int {
	x := &p.kernel.gemv
	switch words := ceil(k, 4); {
	case x.outer == nil:
	case memory.Size[S]() > 1 && k <= x.outerWords:
		return outerColumns
	case memory.Size[S]() == 1 && n < outerColumns && words <= x.outerWords/(1+n/32) && !x.dots(n, words, 10):
		return outerColumns - 1
	}
	return 0
}

// dots reports whether n columns of so many words are faster by a gemv than by what takes half as long for a word of
// a row, and as long as so many more for a row.
func (x *gemvKernel[C]) dots(n, words, more int) bool {
	return n <= x.columns && n*(words/x.lanes+6) <= words+more
}

// PaysColumns reports whether MultiplyColumns of m rows by n columns of k elements is assumed to be
// faster than tiles that read panels; false where it may not be called.
func (p *MicroKernels[S, C]) PaysColumns(m, n, k int) bool {
	x, steps := &p.kernel.gemv, ceil(k, p.KU)
	switch {
	case p.isAsked(ReadColumns):
		return true
	case p.Choices.B != ReadByRule || !p.CanRead(ReadColumns):
		return false
	case n <= p.outers(n, k) && m >= n*min(2*rowsPay, 2*ceil(k, 4)): // to bring b takes time
		return true
	case n > 1 && k > shallow && m < rowsPay*n:
		return x.flats(m, n, k)
	case x.widens: // packing has to widen a too
		return n <= gemvColumns
	case x.spread == nil:
		return x.dots(n, steps, 24)
	}
	return n <= x.columns || k <= shallow && (n <= x.lanes || len(p.direct.tiles) > 1 && p.near(k, n, 1))
}

// MultiplyColumns is Multiply of a Run whose rows of a lie in memory, any number of elements, and whose B is
// left out by one that is not packed: its element (l, j) is b[l*ldb+j]. Any number of columns is right.
func (p *MicroKernels[S, C]) MultiplyColumns(r Run[S], c []C, ldc, m, n, k int, b []S, ldb int, accumulate bool) {
	if !p.CanRead(ReadColumns) || r.Rows == nil || m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("gemm: MultiplyColumns of %d×%d, k %d, on %s", m, n, k, p.Name))
	}
	c, b = extent(c, m, n, ldc), extent(b, k, n, ldb)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	a, lda, x := extent(r.Rows, m, k, r.LDA), r.LDA*memory.Size[S](), &p.kernel.gemv
	switch {
	case n > x.lanes && !x.widens && len(p.direct.tiles) > 1:
		tiles := p.directBlock(r, c, ldc, m, n, k, b, ldb, accumulate)
		defer tiles.done()
		tiles.run(0, n, 0, k)
		return
	case n == ldb && x.flats(m, n, k):
		x.flat(&c[0], ldc, at(a, 0), at(b, 0), lda, ldb*memory.Size[S](), k, m, n, accumulate)
		return
	case x.spreads(n, k):
		for j := 0; j < n; j += x.lanes {
			x.spread(&c[j], ldc, at(a, 0), at(b, j), lda, ldb*memory.Size[S](), k, m, min(n-j, x.lanes), accumulate)
		}
		return
	}
	work := gemvWorks.Get().(*gemvWork)
	if p.kernel.tape == nil { // its calls have memory of their own
		defer gemvWorks.Put(work)
	}
	if most := p.outers(n, k); most > 0 {
		for j := 0; j < n; j += most {
			cols, from := min(n-j, most), b[j:]
			outerRows(work, from, ldb, k, cols)
			if p.kernel.tape != nil {
				p.kernel.tape.keep(func() { outerRows(work, from, ldb, k, cols) })
			}
			x.outer(&c[j], ldc, at(a, 0), unsafe.Pointer(&work.b), lda, outerColumns*wordBytes, k, m, cols, accumulate)
		}
		return
	}
	for l := 0; l < k; l += gemvSteps * x.deep {
		deep := min(k-l, gemvSteps*x.deep)
		for j := 0; j < n; j += x.columns {
			cols, from := min(n-j, x.columns), b[l*ldb+j:]
			columns := bringColumns(work, x, from, ldb, deep, cols)
			if p.kernel.tape != nil { // it is brought once more, to the same place
				p.kernel.tape.keep(func() { bringColumns(work, x, from, ldb, deep, cols) })
			}
			x.run(&c[j], ldc, at(a, l), columns, lda, deep, m, cols, (*C)(unsafe.Pointer(&work.bias)), accumulate || l > 0)
		}
	}
}

// outerRows has w hold k rows of b as words, outerColumns from row to row: of bfloat16 widened, with zeros behind
// them, as it may take long to multiply others; of int8 four of a column, offset, and 128 behind them.
func outerRows[S Source](w *gemvWork, b []S, ldb, k, cols int) {
	switch b := any(b).(type) {
	case []uint16:
		for l := range k {
			to := (*[outerColumns]uint32)(w.b[l*outerColumns:])
			clear(to[cols:])
			for j, v := range b[l*ldb:][:cols] {
				to[j] = uint32(v) << 16
			}
		}
	case []int8:
		const offsets = 0x80808080
		for l := 0; l < k; l += 4 {
			row := func(u int) []int8 { return b[min(l+u, k-1)*ldb:][:cols] } // any behind the last meets zeros
			to, r0, r1, r2, r3 := w.b[l/4*outerColumns:][:cols], row(0), row(1), row(2), row(3)
			for j := range to {
				to[j] = uint32(uint8(r0[j])) | uint32(uint8(r1[j]))<<8 | uint32(uint8(r2[j]))<<16 | uint32(uint8(r3[j]))<<24 ^ offsets
			}
			to[:cols+1][cols] = offsets
		}
	}
}

// bringColumns returns columns as a gemv reads them, and has w hold what their sums start from.
func bringColumns[S Source, C Sum](w *gemvWork, x *gemvKernel[C], from []S, ld, k, cols int) unsafe.Pointer {
	columns := unsafe.Pointer(&w.b)
	switch {
	case x.widens:
		widenColumns(w, 0, unsafe.Slice((*uint16)(at(from, 0)), (k-1)*ld+cols), ld, k, cols)
	case cols == 1 && ld == 1:
		columns = at(from, 0)
	default:
		copyColumns(w, 0, from, ld, k, cols)
	}
	if x.bias != nil {
		w.sums(x.bias, columns, k, cols)
	}
	return columns
}

// edgeAlong is an edge for rows i0 … i1-1 of an a that is not packed, in whose place columns of b's
// panel are copied out of it.
func (x *block[C]) edgeAlong(i0, i1, j, cols, s, steps int, b *uint32, accumulate bool) {
	x.kernel.spoil()
	work := gemvWorks.Get().(*gemvWork)
	defer gemvWorks.Put(work)
	for done := 0; done < steps; done += gemvSteps {
		run := min(gemvSteps, steps-done)
		copyColumns(work, 0, span(offset(b, done*x.nr*wordBytes), (run-1)*x.nr+cols), x.nr, run, cols)
		k := run * x.kernel.gemv.deep
		x.kernel.gemv.run(&x.c[i0*x.ldc+j], x.ldc, unsafe.Pointer(x.a.at(i0/x.mr, s+done)), unsafe.Pointer(&work.b), x.a.row, k, i1-i0, cols, nil, accumulate || done > 0)
	}
}
