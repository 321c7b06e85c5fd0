package gemm

import (
	"fmt"
	"unsafe"
)

// Kernels is the table of one instruction set: a path for each element type.
// Panels packed by one path may be multiplied by another of equal Format, so
// a bfloat16 a times a float32 b is WideBFloat16.PackA, Float32.PackB and
// either Block.
type Kernels struct {
	ISA      ISA
	Float32  *Path[float32, float32]
	BFloat16 *Path[uint16, float32] // bits of bfloat16: the fastest of those below
	Int8     *Path[int8, int32]     // exact modulo 2^32

	// Widened to float32, and multiplied like it.
	WideBFloat16 *Path[uint16, float32]

	// Multiplied in pairs by VDPBF16PS, nil where this machine lacks it. Each
	// product is exact, and added by an addition that rounds to nearest:
	// element 1 of a pair first, then element 0. Denormal factors count as
	// zero, and sums that become denormal turn into zero.
	PairsBFloat16 *Path[uint16, float32]

	// Multiplied in tiles by TDPBF16PS and TDPBSSD, nil where this machine lacks
	// AMX. Denormal numbers count as zero as in PairsBFloat16.
	TilesBFloat16 *Path[uint16, float32]
	TilesInt8     *Path[int8, int32]

	// What a product of few rows of a is better off with, as it reads b where it
	// lies. Other than BFloat16 and Int8 only where those do not: on tiles, and on
	// quads of AVX-VNNI.
	ThinBFloat16 *Path[uint16, float32]
	ThinInt8     *Path[int8, int32]

	// Both sides widened to int16, so that signed and unsigned operands mix.
	WideInt8  *Path[int8, int32]
	WideUint8 *Path[uint8, int32]

	choices Choices // other than the rules
}

// Thin returns the table with ThinBFloat16 and ThinInt8 in the places of BFloat16
// and Int8.
func (k *Kernels) Thin() *Kernels {
	thin := *k
	thin.BFloat16, thin.Int8 = k.ThinBFloat16, k.ThinInt8
	return &thin
}

// Stored returns the table for a b of few bits in memory, whose paths may have an
// InPlace: Thin, or beyond AVX2 that of AVX2 for few rows.
func (k *Kernels) Stored() *Kernels {
	narrow := For(AVX2)
	if k.ISA <= AVX2 || narrow == nil {
		return k.Thin()
	}
	choices := k.choices
	choices.quick = fewInPlaceRows
	return narrow.With(choices).Thin()
}

// A Source is the element type of an operand in memory; uint16 holds bfloat16.
type Source interface {
	float32 | uint16 | int8 | uint8
}

// A Sum is the element type of the products' sums.
type Sum interface {
	float32 | int32
}

// A Path packs operands of element type S and multiplies them into sums of
// type C. Its methods may be called from many goroutines at once.
//
// In packed memory a word of 32 bits holds one step: KU consecutive elements
// of k for one row of a, or one column of b. Panel p of a holds rows
// p·MR … p·MR+MR-1, step after step, MR words a step; b likewise with NR.
// Words beyond the extents are zero elements.
//
// For tiles a step is sixteen words deep, so KU is sixteen times as many
// elements: of a the words of each row follow each other, of b the words of
// each column lie NR apart.
type Path[S Source, C Sum] struct {
	Name   string    // instruction set, tile and format: "avx512 12x32 float32"
	Format string    // of packed panels; equal formats may be mixed
	MR, NR int       // rows and columns of the register tile
	KU     int       // elements of k in one step
	Words  int       // of one row or column in one step: 1, or 16 for tiles
	Stored Stored[C] // for a b that is not of type S

	kernel kernel[C]
	direct directKernel[C]
	stream streamKernel[C]
	cuts   cuts
	packA  packer[S]
	packB  packer[S]
}

// SizeA is the number of bytes PackA writes for m rows of k elements.
func (p *Path[S, C]) SizeA(m, k int) int { return ceil(m, p.MR) * p.PanelA(k) }

// SizeB is the number of bytes PackB writes for k rows of n elements.
func (p *Path[S, C]) SizeB(k, n int) int { return ceil(n, p.NR) * p.PanelB(k) }

// PanelA is the number of bytes of one panel of a: rows from p·MR on start at
// byte p·PanelA(k).
func (p *Path[S, C]) PanelA(k int) int { return p.MR * ceil(k, p.KU) * p.Words * wordBytes }

// PanelB is the number of bytes of one panel of b: columns from p·NR on start
// at byte p·PanelB(k).
func (p *Path[S, C]) PanelB(k int) int { return p.NR * ceil(k, p.KU) * p.Words * wordBytes }

// PackA packs the m×k matrix with elements src[i*ld+l]. dst comes from Buffer
// or is a multiple of 64 bytes into it.
func (p *Path[S, C]) PackA(dst []byte, src []S, ld, m, k int) {
	p.packA.rows(words(dst, p.SizeA(m, k)), extent(src, m, k, ld), ld, m, k)
}

// PackAT packs the m×k matrix with elements src[l*ld+i].
func (p *Path[S, C]) PackAT(dst []byte, src []S, ld, m, k int) {
	p.packA.columns(words(dst, p.SizeA(m, k)), p.PanelA(k)/wordBytes, extent(src, k, m, ld), ld, m, k)
}

// PackB packs the k×n matrix with elements src[l*ld+j].
func (p *Path[S, C]) PackB(dst []byte, src []S, ld, k, n int) {
	p.PackBPart(dst, p.PanelB(k), src, ld, k, n)
}

// PackBPart packs k rows of a deeper b, as PackB does all, into panels that lie panel
// bytes apart: rows from k0 on, a multiple of KU, start at byte PanelB(k0) of the first.
func (p *Path[S, C]) PackBPart(dst []byte, panel int, src []S, ld, k, n int) {
	if n > 0 && k > 0 {
		all := (ceil(n, p.NR)-1)*panel + p.PanelB(k)
		p.packB.columns(words(dst, all), panel/wordBytes, extent(src, k, n, ld), ld, n, k)
	}
}

// PackBT packs the k×n matrix with elements src[j*ld+l].
func (p *Path[S, C]) PackBT(dst []byte, src []S, ld, k, n int) {
	p.packB.rows(words(dst, p.SizeB(k, n)), extent(src, n, k, ld), ld, n, k)
}

// Block multiplies packed a (m×k) by packed b (k×n) into the m×n corner of c,
// whose rows are ldc elements apart: c = a·b, or c += a·b if accumulate. It
// touches no other element of c and reads c only if accumulate.
func (p *Path[S, C]) Block(c []C, ldc, m, n, k int, a, b []byte, accumulate bool) {
	p.Multiply(Run[S]{A: a, B: b}, c, ldc, m, n, k, accumulate)
}

// A Run is a call of Block that says more.
type Run[S Source] struct {
	A     []byte // packed
	Rows  []S    // or a as it lies in memory, rows LDA apart; only where ReadsA
	LDA   int
	B     []byte // packed
	Work  []byte // as many bytes as Path.Work, on a cache line; nil for memory of its own
	Write Write  // of tiles; others write c in one way
}

// A Write is how tiles bring sums to c.
type Write uint8

const (
	WriteInPlace Write = iota // a register tile at a time
	WriteCopied               // to where rows follow each other, and from there beside the next products
	WritePast                 // so too, and past the caches: c is not soon needed
)

// ReadsA reports whether this path multiplies an a that is not packed, of k
// elements in a row.
func (p *Path[S, C]) ReadsA(k int) bool {
	words := p.kernel.rows.tile != nil && p.KU*size[S]() == wordBytes // in memory as in panels
	return (p.kernel.strips != nil || words) && k%p.KU == 0
}

// WantsPanels reports whether n columns end with some that go along packed panels of a
// several times as fast as along its rows.
func (p *Path[S, C]) WantsPanels(n int) bool {
	return n%p.NR > 0 && p.kernel.isEdge(n%p.NR)
}

// Streams reports whether this path brings sums to c as Write of a Run says, if rows of
// c are ldc elements apart and begin on cache lines.
func (p *Path[S, C]) Streams(ldc int) bool {
	return p.kernel.strips != nil && ldc*wordBytes%cacheLine == 0
}

// Work is the number of bytes of memory that a Run wants.
func (p *Path[S, C]) Work() int { return p.cuts.work }

// Multiply is Block of a Run.
func (p *Path[S, C]) Multiply(r Run[S], c []C, ldc, m, n, k int, accumulate bool) {
	p.blockRange(c, ldc, m, n, 0, k, k, r, accumulate)
}

// blockRange is Multiply over elements k0 … k0+k-1 of panels packed depth elements deep,
// or of rows of so many. k0 is a multiple of KU, and so is k unless k0+k is depth.
func (p *Path[S, C]) blockRange(c []C, ldc, m, n, k0, k, depth int, r Run[S], accumulate bool) {
	switch {
	case m < 0 || n < 0 || k < 0 || k0 < 0 || k0+k > depth:
		panic(fmt.Sprintf("gemm: Block of %d×%d, ldc %d, k %d…%d of %d", m, n, ldc, k0, k0+k, depth))
	case k0%p.KU != 0 || (k%p.KU != 0 && k0+k != depth):
		panic(fmt.Sprintf("gemm: k range %d…%d of %d is not whole steps of %d", k0, k0+k, depth, p.KU))
	case r.Rows != nil && !p.ReadsA(depth):
		panic(fmt.Sprintf("gemm: %s: rows of %d elements in memory", p.Name, depth))
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
	if p.kernel.strips != nil {
		x := p.tilesBlock(r, m, n, k0, k, depth)
		x.c, x.elementC, x.rowC, x.accumulate = &c[0], wordBytes, ldc*wordBytes, accumulate
		if uintptr(unsafe.Pointer(x.c))%cacheLine == 0 && x.rowC%cacheLine == 0 {
			x.way = [...]streaming{WriteInPlace: streamNot, WriteCopied: streamCopied, WritePast: streamSums}[r.Write]
		}
		x.run()
		return
	}
	block[C]{
		kernel: &p.kernel, mr: p.MR, nr: p.NR, words: p.Words, cuts: p.cuts,
		c: c, ldc: ldc, m: m, n: n,
		a: p.left(r, m, depth), b: words(r.B, p.SizeB(depth, n)), panelB: p.PanelB(depth) / wordBytes,
		step0: k0 / p.KU, steps: ceil(k, p.KU), accumulate: accumulate,
	}.run()
}

// tilesBlock is all of a call but c.
func (p *Path[S, C]) tilesBlock(r Run[S], m, n, k0, k, depth int) tilesBlock[C] {
	x := tilesBlock[C]{
		strips: p.kernel.strips, cuts: p.cuts, m: m, n: n, a: p.left(r, m, depth),
		b: words(r.B, p.SizeB(depth, n)), panelB: p.PanelB(depth) / wordBytes,
		step0: k0 / p.KU, steps: ceil(k, p.KU),
	}
	if r.Work != nil {
		w := words(r.Work, p.Work())
		x.work = unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
	}
	return x
}

// Buffer returns n bytes aligned to a cache line, for packed panels.
func Buffer(n int) []byte {
	b := make([]byte, n+cacheLine)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % cacheLine)
	return b[off : off+n : off+n]
}

const (
	wordBytes = 4
	cacheLine = 64
)

// words reinterprets the first n bytes of packed memory.
func words(b []byte, n int) []uint32 {
	b = first(b, n)
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), n/wordBytes)
}

// extent cuts s to the elements of a matrix whose rows are ld elements apart.
// What it lets pass is safe for routines that check nothing.
func extent[T any](s []T, rows, cols, ld int) []T {
	switch {
	case rows < 0 || cols < 0 || (rows > 1 && ld < cols):
		panic(fmt.Sprintf("gemm: %d×%d elements in rows %d apart", rows, cols, ld))
	case rows == 0 || cols == 0:
		return nil
	}
	return first(s, (rows-1)*ld+cols)
}

// clearBlock zeroes the m×n corner of c: the product where k is 0.
func clearBlock[T any](c []T, ldc, m, n int) {
	for i := range m {
		clear(c[i*ldc : i*ldc+n])
	}
}

// first is s[:n], also refused where s is shorter but has the capacity.
func first[T any](s []T, n int) []T { return s[:len(s):len(s)][:n] }

func ceil(a, b int) int { return (a + b - 1) / b }
