package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A Run is a call of Block that says more.
type Run[S Source] struct {
	A     []byte // packed
	Rows  []S    // or a as it lies in memory, rows LDA apart; only where ReadsA
	LDA   int
	B     []byte // packed
	Far   bool   // B comes from beyond L2, and what lies behind it in memory is multiplied next
	Work  []byte // as many bytes as MicroKernels.Work, on a cache line; nil for memory of its own
	Write Write  // of tiles; others write c in one way
}

// A Write is how tiles bring sums to c.
type Write uint8

const (
	WriteInPlace     Write = iota // a register tile at a time
	WriteCopied                   // to where rows follow each other, and from there beside the next products
	WriteNonTemporal              // so too, by non-temporal stores: C is not soon needed
)

// ReadsA reports whether this path multiplies an a that is not packed, of k elements in a row.
func (p *MicroKernels[S, C]) ReadsA(k int) bool {
	words := p.kernel.rows.tile != nil && p.KU*memory.Size[S]() == wordBytes // in memory as in panels
	return (p.kernel.strips != nil || words) && k%p.KU == 0
}

// WantsPanels reports whether n columns end with some that go along packed panels of a
// several times as fast as along its rows: those of a b that is not packed, and where no dot
// products take them along rows.
func (p *MicroKernels[S, C]) WantsPanels(n int, packedB bool) bool {
	return n%p.NR > 0 && p.kernel.isEdge(n%p.NR) && !(packedB && p.kernel.gemv.run != nil)
}

// FewColumns is the most columns left over after whole register tiles that cost less than half of one.
func (p *MicroKernels[S, C]) FewColumns() int {
	if p.kernel.edge == nil {
		return 0
	}
	return edgeCols
}

// Streams reports whether this path brings sums to c as Write of a Run says, if rows of
// c are ldc elements apart and begin on cache lines.
func (p *MicroKernels[S, C]) Streams(ldc int) bool {
	return p.kernel.strips != nil && ldc*wordBytes%cacheLine == 0
}

// Work is the number of bytes of memory that a Run wants.
func (p *MicroKernels[S, C]) Work() int { return p.blocking.work }

// Multiply is Block of a Run.
func (p *MicroKernels[S, C]) Multiply(r Run[S], c []C, ldc, m, n, k int, accumulate bool) {
	p.MultiplyPart(r, c, ldc, m, n, 0, k, k, accumulate)
}

// MultiplyPart is Multiply by part of a b that was packed depth elements deep: k of them from
// k0 on, which are all that a has. k0 is a multiple of KU, and so is k unless k0+k is depth.
func (p *MicroKernels[S, C]) MultiplyPart(r Run[S], c []C, ldc, m, n, k0, k, depth int, accumulate bool) {
	switch {
	case m < 0 || n < 0 || k < 0 || k0 < 0 || k0+k > depth:
		panic(fmt.Sprintf("gemm: Block of %d×%d, ldc %d, k %d…%d of %d", m, n, ldc, k0, k0+k, depth))
	case k0%p.KU != 0 || (k%p.KU != 0 && k0+k != depth):
		panic(fmt.Sprintf("gemm: k range %d…%d of %d is not whole steps of %d", k0, k0+k, depth, p.KU))
	case r.Rows != nil && !p.ReadsA(k):
		panic(fmt.Sprintf("gemm: %s: rows of %d elements in memory", p.Name, k))
	}
	c = extent(c, m, n, ldc)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	if p.kernel.strips != nil {
		p.kernel.spoil()
		x := p.tilesBlock(r, m, n, k0, k, depth)
		x.c, x.elementC, x.rowC, x.accumulate = &c[0], wordBytes, ldc*wordBytes, accumulate
		if uintptr(unsafe.Pointer(x.c))%cacheLine == 0 && x.rowC%cacheLine == 0 {
			x.way = [...]streaming{WriteInPlace: streamNot, WriteCopied: streamCopied, WriteNonTemporal: streamSums}[r.Write]
		}
		x.run()
		return
	}
	a, steps, memory := p.left(r, m, k), ceil(k, p.KU), biases.Get().(*[]uint32)
	if p.kernel.tape == nil {
		defer biases.Put(memory)
	}
	x := block[C]{
		kernel: &p.kernel, mr: p.MR, nr: p.NR, words: p.Words, blocking: p.blocking,
		c: c, ldc: ldc, m: m, n: n,
		a: a, b: words(r.B, p.SizeB(depth, n)), panelB: p.PanelB(depth) / wordBytes,
		step0: k0 / p.KU, steps: steps, accumulate: accumulate, far: r.Far,
		bias: p.kernel.biasOf(a, p.MR, m, 0, steps, memory),
	}
	x.run()
}

// tilesBlock is all of a call but c.
func (p *MicroKernels[S, C]) tilesBlock(r Run[S], m, n, k0, k, depth int) tilesBlock[C] {
	x := tilesBlock[C]{
		strips: p.kernel.strips, blocking: p.blocking, m: m, n: n, a: p.left(r, m, k),
		b: words(r.B, p.SizeB(depth, n)), panelB: p.PanelB(depth) / wordBytes,
		step0: k0 / p.KU, steps: ceil(k, p.KU),
	}
	if r.Work != nil {
		w := words(r.Work, p.Work())
		x.work = unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
	}
	return x
}
