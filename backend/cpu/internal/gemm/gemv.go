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
	half           gemv[C] // of vectors half as wide, for up to halfColumns; nil if there is none
}

const halfColumns = 4

// of is the routine for so many steps and columns: where half a vector has all steps, one of such
// vectors is faster.
func (k *gemvKernel[C]) of(steps, cols int) gemv[C] {
	if k.half != nil && steps <= k.lanes/2 && cols <= halfColumns {
		return k.half
	}
	return k.run
}

// A gemv computes rows × cols dot products of rows of a, lda bytes apart, and of columns of b,
// gemvColumn words apart:
//
//	for i := range rows {
//		for j := range cols {
//			s := 0
//			for l := range steps {
//				s += dot(a[i][l], b[j*gemvColumn+l])
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// Each sum is kept in as many parts as a vector has lanes.
type gemv[C Sum] func(c *C, ldc int, a *uint32, lda int, b *uint32, steps, rows, cols int, accumulate bool)

const (
	gemvSteps   = 1024 // of columns that are copied at once
	gemvColumn  = gemvSteps + 16
	gemvColumns = 8 // the most of any gemv
)

// gemvWork are the columns of a call.
type gemvWork [gemvColumns * gemvColumn]uint32

var gemvWorks = sync.Pool{New: func() any { return new(gemvWork) }}

// copyColumns copies columns of rows that lie ld elements apart.
func copyColumns[T any](w *gemvWork, from []T, ld, rows, cols int) {
	for j := range cols {
		to, at := unsafe.Slice((*T)(unsafe.Pointer(&w[j*gemvColumn])), gemvSteps*wordBytes/memory.Size[T]())[:rows], j
		for l := range to {
			to[l] = from[at]
			at += ld
		}
	}
}

// PaysColumns reports whether MultiplyColumns of m rows by n columns of k elements is assumed to be
// faster than tiles: a sum takes half a cycle for each vector and three to add up its lanes, an
// element that is copied one, and a row of a tile half a cycle for each step and about twelve. It is
// false where it may not be called.
func (p *MicroKernels[S, C]) PaysColumns(m, n, k int) bool {
	switch x := p.kernel.gemv; {
	case p.isAsked(ReadColumns):
		return true
	case p.Choices.B != ReadByRule || !p.CanRead(ReadColumns) || n > x.columns:
		return false
	default:
		copied := k * n
		if n == 1 {
			copied = 0
		}
		return 2*copied+m*n*(k/p.KU/x.lanes+6) <= m*(k/p.KU+24)
	}
}

// MultiplyColumns is Multiply of a Run whose rows of a lie in memory, and whose B is left out by one that
// is not packed: its element (l, j) is b[l*ldb+j]. Any number of columns is right.
func (p *MicroKernels[S, C]) MultiplyColumns(r Run[S], c []C, ldc, m, n, k int, b []S, ldb int, accumulate bool) {
	if !p.CanRead(ReadColumns) || r.Rows == nil || !p.ReadsA(k) || m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("gemm: MultiplyColumns of %d×%d, k %d, on %s", m, n, k, p.Name))
	}
	c, b = extent(c, m, n, ldc), extent(b, k, n, ldb)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	a, work := p.left(r, m, k), gemvWorks.Get().(*gemvWork)
	if p.kernel.tape == nil {
		defer gemvWorks.Put(work)
	}
	for l := 0; l < k; l += gemvSteps * p.KU {
		deep := min(k-l, gemvSteps*p.KU)
		for j := 0; j < n; j += p.kernel.gemv.columns {
			cols, columns := min(n-j, p.kernel.gemv.columns), &work[0]
			if cols == 1 && ldb == 1 {
				columns = (*uint32)(at(b, l))
			} else if from := b[l*ldb+j:]; p.kernel.tape != nil {
				p.kernel.tape.keep(func() { copyColumns(work, from, ldb, deep, cols) })
			} else {
				copyColumns(work, from, ldb, deep, cols)
			}
			p.kernel.gemv.of(deep/p.KU, cols)(&c[j], ldc, a.at(0, l/p.KU), a.row, columns, deep/p.KU, m, cols, accumulate || l > 0)
		}
	}
}

// edgeAlong is an edge for rows i0 … i1-1 of an a that is not packed, in whose place columns of b's
// panel are copied out of it.
func (x *block[C]) edgeAlong(i0, i1, j, cols, s, steps int, b *uint32, accumulate bool) {
	x.kernel.spoil()
	work := gemvWorks.Get().(*gemvWork)
	defer gemvWorks.Put(work)
	for done := 0; done < steps; done += gemvSteps {
		run := min(gemvSteps, steps-done)
		copyColumns(work, span(offset(b, done*x.nr*wordBytes), (run-1)*x.nr+cols), x.nr, run, cols)
		x.kernel.gemv.of(run, cols)(&x.c[i0*x.ldc+j], x.ldc, x.a.at(i0/x.mr, s+done), x.a.row, &work[0], run, i1-i0, cols, accumulate || done > 0)
	}
}
