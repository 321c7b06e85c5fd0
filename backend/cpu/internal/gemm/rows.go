package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A left is the a of a call: packed panels, or rows of memory that hold words as
// panels do, each word a step, those of a row one after another.
type left struct {
	words       []uint32
	panel, step int // bytes from panel to panel, and from step to step
	row         int // bytes from row to row: of memory, or within a step of a panel
	packed      bool
}

// left is the a of a run, m rows of k elements.
func (p *MicroKernels[S, C]) left(r Run[S], m, k int) left {
	if r.Rows == nil {
		return left{words(r.A, p.SizeA(m, k)), p.PanelA(k), p.MR * p.Words * wordBytes, p.Words * wordBytes, true}
	}
	a, row := extent(r.Rows, m, k, r.LDA), r.LDA*memory.Size[S]()
	w := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*memory.Size[S]()/wordBytes)
	return left{w, p.MR * row, p.Words * wordBytes, row, false}
}

// at is where a panel begins at a step.
func (a left) at(panel, step int) *uint32 {
	return offset(unsafe.SliceData(a.words), panel*a.panel+step*a.step)
}

// A rowsKernel does what a tile and a column do for rows of a that are not packed but lie
// lda bytes apart. Its tile takes an odd number of rows only where odd. Its bias, nil where
// there is none, is that of as many rows, and writes up to biasRows-1 words more.
type rowsKernel[C Sum] struct {
	tile   rowsTile[C]
	column rowsColumn[C]
	odd    bool
	bias   func(dst, a *uint32, lda, steps, rows int)
}

type rowsTile[C Sum] func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool)

type rowsColumn[C Sum] func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next, end uintptr, panels int, accumulate bool)

// tileOf is tile of a kernel with rows, any number of them; MR words of bias may be read behind
// its rows.
func (k *rowsKernel[C]) tileOf(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
	if rows > 1 && rows%2 > 0 && !k.odd {
		rows--
		var last *C
		if bias != nil {
			last = offset(bias, rows*wordBytes)
		}
		k.tile(offset(c, rows*ldc*wordBytes), ldc, steps, offset(a, rows*lda), lda, b, last, next, 1, cols, accumulate)
	}
	k.tile(c, ldc, steps, a, lda, b, bias, next, rows, cols, accumulate)
}
