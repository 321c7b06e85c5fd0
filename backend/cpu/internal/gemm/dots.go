package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A dotsKernel multiplies few rows of a by a transposed b, whose columns lie in memory as
// rows: each element of c is the dot product of a row of a and one of these, and b is read
// from end to end where it lies. It is a gemv of b's rows, whose c is transposed.
type dotsKernel[C Sum] struct {
	run   gemv[C]                                                 // nil if there is none, and all is 0
	rows  int                                                     // of a, at most
	bring func(w *gemvWork, row int, from []uint32, ld, k, _ int) // a row of a
}

// dotsBytes of b stay in L1 while the rows of a take turns, in multiples of rows that any gemv takes at once.
const dotsBytes, turns = 16 << 10, 16

// DotsRows is the number of rows of a up to which MultiplyDots is assumed to be faster than
// PackBT and Block where nothing is measured; 0 where it may not be called.
func (p *MicroKernels[S, C]) DotsRows() int {
	switch {
	case p.isAsked(ReadDots):
		return AllRows
	case p.Choices.B != ReadByRule:
		return 0
	}
	return p.dots.rows
}

// MultiplyDots is Multiply of a Run whose B is left out by a b that is not packed: its
// element (l, j) is b[j*ldb+l]. Any number of rows of a is right.
func (p *MicroKernels[S, C]) MultiplyDots(r Run[S], c []C, ldc, m, n, k int, b []S, ldb int, accumulate bool) {
	if p.dots.run == nil || m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("gemm: MultiplyDots of %d×%d, k %d, on %s", m, n, k, p.Name))
	}
	c, b = extent(c, m, n, ldc), extent(b, n, k, ldb)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	work, x, lda := gemvWorks.Get().(*gemvWork), p.left(r, m, k), ldb*memory.Size[S]()
	defer gemvWorks.Put(work)
	for l := 0; l < k; l += gemvSteps * p.KU {
		deep := min(k-l, gemvSteps*p.KU)
		for i := 0; i < m; i += gemvColumns {
			rows := min(m-i, gemvColumns)
			for row := range rows {
				words := offset(x.at((i+row)/p.MR, l/p.KU), (i+row)%p.MR*x.row)
				p.dots.bring(work, row, span(words, (ceil(deep, p.KU)-1)*x.step/wordBytes+1), x.step/wordBytes, ceil(deep, p.KU), 1)
			}
			piece := max(turns, dotsBytes/lda/turns*turns)
			for j := 0; j < n; j += piece {
				for row := 0; row < rows; row += p.dots.rows {
					p.dots.run(&c[(i+row)*ldc+j], ldc, at(b, j*ldb+l), unsafe.Pointer(&work.b[row*gemvColumn]), lda, deep, min(n-j, piece), min(rows-row, p.dots.rows), nil, accumulate || l > 0)
				}
			}
		}
	}
}
