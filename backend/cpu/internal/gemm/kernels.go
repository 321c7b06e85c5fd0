package gemm

import (
	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/probe"
)

// Kernels is the table of one instruction set: a path for each element type. Panels packed by one
// path may be multiplied by another of equal Format, so a bfloat16 a times a float32 b is
// WideBFloat16.PackA, Float32.PackB and either Block.
type Kernels struct {
	ISA      ISA
	Float32  *MicroKernels[float32, float32]
	BFloat16 *MicroKernels[uint16, float32] // bits of bfloat16: the fastest of those below
	Int8     *MicroKernels[int8, int32]     // exact modulo 2^32

	// Widened to float32, and multiplied like it.
	WideBFloat16 *MicroKernels[uint16, float32]

	// Multiplied in pairs by VDPBF16PS, nil where this machine lacks it. Each
	// product is exact, and added by an addition that rounds to nearest:
	// element 1 of a pair first, then element 0. Denormal factors count as
	// zero, and sums that become denormal turn into zero.
	PairsBFloat16 *MicroKernels[uint16, float32]

	// Multiplied in tiles by TDPBF16PS and TDPBSSD, nil where this machine lacks
	// AMX. Denormal numbers count as zero as in PairsBFloat16.
	TilesBFloat16 *MicroKernels[uint16, float32]
	TilesInt8     *MicroKernels[int8, int32]

	// What a product of few rows of a is better off with, as it reads b where it lies. Other than
	// BFloat16 and Int8 only where those do not: on tiles, and on quads of AVX-VNNI.
	ThinBFloat16 *MicroKernels[uint16, float32]
	ThinInt8     *MicroKernels[int8, int32]

	// Both sides widened to int16, so that signed and unsigned operands mix.
	WideInt8  *MicroKernels[int8, int32]
	WideUint8 *MicroKernels[uint8, int32]

	Strided Strided // of float32, without packing

	groups *Groups // of no Size yet

	Choices // other than the rules
}

// Thin returns the table with ThinBFloat16 and ThinInt8 in the places of BFloat16 and Int8.
func (k *Kernels) Thin() *Kernels {
	thin := *k
	thin.BFloat16, thin.Int8 = k.ThinBFloat16, k.ThinInt8
	return &thin
}

// ForInPlace returns the table for a b of few bits in memory, whose paths may have an
// InPlace: Thin, or beyond AVX2 that of AVX2 for few rows.
func (k *Kernels) ForInPlace() *Kernels {
	narrow := For(AVX2)
	if k.ISA == AVX2 || !k.ISA.Has(AVX2) || narrow == nil {
		return k.Thin()
	}
	choices := k.Choices
	choices.quick = fewInPlaceRows
	return narrow.With(choices).Thin()
}

// A Source is the element type of an operand in memory; uint16 holds bfloat16.
type Source = pack.Source

// A Sum is the element type of the products' sums.
type Sum interface {
	float32 | int32
}

// A MicroKernels packs operands of element type S and multiplies them into sums of
// type C. Its methods may be called from many goroutines at once.
//
// In packed memory a word of 32 bits holds one step: KU consecutive elements of k for one row of a,
// or one column of b. Panel p of a holds rows p·MR … p·MR+MR-1, step after step, MR words a step; b
// likewise with NR. Words beyond the extents are zero elements.
//
// For tiles a step is sixteen words deep, so KU is sixteen times as many elements: of a the words
// of each row follow each other, of b the words of each column lie NR apart.
type MicroKernels[S Source, C Sum] struct {
	Name   string // instruction set, tile and format: "avx512 12x32 float32"
	Format string // of packed panels; equal formats may be mixed
	MR, NR int    // rows and columns of the register tile
	KU     int    // elements of k in one step
	Words  int    // of one row or column in one step: 1, or 16 for tiles

	Choices // how B is read, whatever the rows of A, and what runs go over

	// InPlace has what multiplies an a that this path packed by a b that is neither packed nor of type S,
	// by the name of its elements.
	InPlace  map[string]*InPlace[C]
	InGroups map[string]*InPlace[C] // the same where groups of k have scales

	kernel   kernel[C]
	direct   directKernel[C]
	stream   streamKernel[C]
	dots     dotsKernel[C]
	host     probe.HostInfo
	blocking blocking
	packA    pack.Packer[S]
	packB    pack.Packer[S]
}

// SizeA is the number of bytes PackA writes for m rows of k elements.
func (p *MicroKernels[S, C]) SizeA(m, k int) int { return ceil(m, p.MR) * p.PanelA(k) }

// SizeB is the number of bytes PackB writes for k rows of n elements.
func (p *MicroKernels[S, C]) SizeB(k, n int) int { return ceil(n, p.NR) * p.PanelB(k) }

// PanelA is the number of bytes of one panel of a: rows from p·MR on start at byte p·PanelA(k).
func (p *MicroKernels[S, C]) PanelA(k int) int { return p.MR * ceil(k, p.KU) * p.Words * wordBytes }

// PanelB is the number of bytes of one panel of b: columns from p·NR on start at byte p·PanelB(k).
func (p *MicroKernels[S, C]) PanelB(k int) int { return p.NR * ceil(k, p.KU) * p.Words * wordBytes }

// PackA packs the m×k matrix with elements src[i*ld+l]. dst comes from Buffer
// or is a multiple of 64 bytes into it.
func (p *MicroKernels[S, C]) PackA(dst []byte, src []S, ld, m, k int) {
	p.packA.Rows(words(dst, p.SizeA(m, k)), extent(src, m, k, ld), ld, m, k)
}

// PackAT packs the m×k matrix with elements src[l*ld+i].
func (p *MicroKernels[S, C]) PackAT(dst []byte, src []S, ld, m, k int) {
	p.packA.Columns(words(dst, p.SizeA(m, k)), p.PanelA(k)/wordBytes, extent(src, k, m, ld), ld, m, k)
}

// PackB packs the k×n matrix with elements src[l*ld+j].
func (p *MicroKernels[S, C]) PackB(dst []byte, src []S, ld, k, n int) {
	p.PackBPart(dst, p.PanelB(k), src, ld, k, n)
}

// PackBPart packs k rows of a deeper b, as PackB does all, into panels that lie panel
// bytes apart: rows from k0 on, a multiple of KU, start at byte PanelB(k0) of the first.
func (p *MicroKernels[S, C]) PackBPart(dst []byte, panel int, src []S, ld, k, n int) {
	if n > 0 && k > 0 {
		all := (ceil(n, p.NR)-1)*panel + p.PanelB(k)
		p.packB.Columns(words(dst, all), panel/wordBytes, extent(src, k, n, ld), ld, n, k)
	}
}

// PackBT packs the k×n matrix with elements src[j*ld+l].
func (p *MicroKernels[S, C]) PackBT(dst []byte, src []S, ld, k, n int) {
	p.packB.Rows(words(dst, p.SizeB(k, n)), extent(src, n, k, ld), ld, n, k)
}

// Block multiplies packed a (m×k) by packed b (k×n) into the m×n corner of c,
// whose rows are ldc elements apart: c = a·b, or c += a·b if accumulate. It
// touches no other element of c and reads c only if accumulate.
func (p *MicroKernels[S, C]) Block(c []C, ldc, m, n, k int, a, b []byte, accumulate bool) {
	p.Multiply(Run[S]{A: a, B: b}, c, ldc, m, n, k, accumulate)
}
