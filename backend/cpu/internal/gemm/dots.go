package gemm

import (
	"fmt"
	"sync"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A dotsKernel multiplies few rows of a by a transposed b, whose columns lie in memory as
// rows: each element of c is the dot product of a row of a and one of these, and b is read
// from end to end where it lies.
type dotsKernel[C Sum] struct {
	run   dots[C] // nil if there is none, and all is 0
	rows  int     // of a, at most
	lanes int     // words of a vector
	pays  int     // rows of a up to which it is assumed to be faster than packing b
}

// A dots computes rows × 4·turns sums over vectors · lanes words of rows of a, lda bytes
// apart, and of rows of b, ldb bytes apart, of which four are a turn:
//
//	for i := range rows {
//		for j := range 4 * turns {
//			s := 0
//			for l := range vectors * lanes {
//				s += dot(a[i][l], b[j][l])
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// It prefetches ahead bytes beyond what it reads of b; that memory need not be b's.
type dots[C Sum] func(c *C, ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int, accumulate bool)

const (
	dotsColumns = 4
	// dotsAhead is about how far ahead rows of b are prefetched, in bytes. They come to L2, as too
	// few lines can be on their way to L1 at a time for all that memory would bring.
	dotsAhead = 4 << 10
)

// DotsRows is the number of rows of a up to which MultiplyDots is assumed to be faster than
// PackBT and Block where nothing is measured; 0 where it may not be called.
func (p *MicroKernels[S, C]) DotsRows() int {
	switch {
	case p.isAsked(ReadDots):
		return AllRows
	case p.Choices.B != ReadByRule:
		return 0
	}
	return p.dots.pays
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
	work := dotsWorks.Get().(*dotsWork)
	defer dotsWorks.Put(work)
	x := dotsBlock[S, C]{MicroKernels: p, c: c, ldc: ldc, m: m, b: b, ldb: ldb, accumulate: accumulate, work: work}
	x.rowsOf(p.left(r, m, k), ceil(k, p.KU))
	vector := p.dots.lanes * p.KU // elements
	deep, wide := k/vector*vector, n/dotsColumns*dotsColumns
	x.whole(wide, deep)
	for j := 0; j < wide && deep < k; j += dotsColumns {
		x.edge(j, dotsColumns, deep, k)
	}
	if wide < n {
		x.edge(wide, n-wide, 0, k)
	}
}

// A dotsBlock is a call of MultiplyDots.
type dotsBlock[S Source, C Sum] struct {
	*MicroKernels[S, C]
	c          []C
	ldc, m     int
	b          []S
	ldb        int
	accumulate bool
	row        int // words from row to row of work.a
	work       *dotsWork
}

// dotsWork is the memory of a call: rows of a one after another, in whole vectors, and
// what edge copies.
type dotsWork struct {
	a []uint32
	b [dotsColumns * dotsCopied]uint32
	c [dotsColumns * dotsColumns]uint32
}

// dotsCopied is how many words of a row edge copies at once.
const dotsCopied = 64

var dotsWorks = sync.Pool{New: func() any { return new(dotsWork) }}

// rowsOf brings steps words of each row of a to work, and zeros behind them.
func (x *dotsBlock[S, C]) rowsOf(a left, steps int) {
	x.row = ceil(steps, x.dots.lanes) * x.dots.lanes
	if need := x.m * x.row; cap(x.work.a) < need {
		x.work.a = words(memory.NewBuffer(need*wordBytes), need*wordBytes)
	}
	x.work.a = x.work.a[:x.m*x.row]
	apart := 1 // words, from step to step
	if a.packed {
		apart = x.MR
	}
	for i := range x.m {
		to := x.work.a[i*x.row:][:x.row]
		from := span(offset(a.at(i/x.MR, 0), i%x.MR*a.row), (steps-1)*apart+1)
		for s := range steps {
			to[s] = from[s*apart]
		}
		clear(to[steps:])
	}
}

// whole multiplies n columns over k elements: whole turns and vectors.
func (x *dotsBlock[S, C]) whole(n, k int) {
	if n == 0 || k == 0 {
		return
	}
	const inL1 = 16 << 10 // bytes of b that stay there while rows of a take turns
	row, piece := x.ldb*memory.Size[S](), n
	if x.m > x.dots.rows {
		piece = max(1, inL1/(k*memory.Size[S]()*dotsColumns)) * dotsColumns
	}
	ahead := ceil(dotsAhead, row*dotsColumns) * row * dotsColumns
	for j := 0; j < n; j += piece {
		for i := 0; i < x.m; i += x.dots.rows {
			x.dots.run(&x.c[i*x.ldc+j], x.ldc, &x.work.a[i*x.row], x.row*wordBytes, at(x.b, j*x.ldb), row,
				k/x.KU/x.dots.lanes, min(x.dots.rows, x.m-i), min(piece, n-j)/dotsColumns, ahead, x.accumulate)
		}
	}
}

// edge multiplies cols columns from j on over elements l to k of them, in copies that are
// whole turns and vectors.
func (x *dotsBlock[S, C]) edge(j, cols, l, k int) {
	const row = dotsCopied * wordBytes
	copied := unsafe.Slice((*S)(unsafe.Pointer(&x.work.b)), len(x.work.b)*wordBytes/memory.Size[S]())
	sums := unsafe.Slice((*C)(unsafe.Pointer(&x.work.c)), len(x.work.c))
	for accumulate := x.accumulate || l > 0; l < k; accumulate = true {
		deep := min(k-l, dotsCopied*x.KU)
		clear(copied)
		for i := range cols {
			copy(copied[i*row/memory.Size[S]():][:deep], x.b[(j+i)*x.ldb+l:])
		}
		for i := 0; i < x.m; i += x.dots.rows {
			rows := min(x.dots.rows, x.m-i)
			x.dots.run(&sums[0], dotsColumns, &x.work.a[i*x.row+l/x.KU], x.row*wordBytes, at(copied, 0), row,
				ceil(ceil(deep, x.KU), x.dots.lanes), rows, 1, 0, false)
			storeSums(x.c[i*x.ldc+j:], x.ldc, sums, dotsColumns, rows, cols, accumulate)
		}
		l += deep
	}
}
