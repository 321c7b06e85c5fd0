package cpu

import (
	"sync"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/cpu/internal/widen"
	"matladder/tile"
)

// An operand whose dtype is not the factor's is widened while it is packed, or
// just before it is multiplied, or by the micro-kernel, so that it moves as few
// bytes as it has.

// widening is how numbers of the dtype in memory become factors.
type widening struct {
	size int // bytes of a factor
	// rows widens n elements from element off on, and as many from off+ld on, …,
	// to rows of dst that lie to factors apart.
	rows func(dst, src []byte, off, ld, rows, n, to int)
}

// widened returns packing p for operands that lie in memory as dtype from and
// are multiplied as dtype to; false if there is no such widening.
func (p packing) widened(from, to tile.Dtype, isa gemm.ISA) (packing, bool) {
	w := wideningOf(from, to, isa)
	if w == nil {
		return p, false
	}
	p.format += "<" + from.String()
	p.widening = w
	p.pack = p.packWidened(w, p.pack)
	return p, true
}

// wideningOf is nil where codes of dtype from are not numbers of dtype to.
func wideningOf(from, to tile.Dtype, isa gemm.ISA) *widening {
	loops := widen.For(isa.Has(gemm.AVX2), isa.Has(gemm.AVX512))
	narrow := map[tile.Dtype]func(dst []uint16, src []byte, off, ahead int){
		tile.Int4:         loops.Int4,
		tile.Int8:         loops.Int8,
		tile.Float8E4M3FN: loops.Float8E4M3,
		tile.Float8E5M2:   loops.Float8E5M2,
	}[from]
	switch {
	case from == tile.Int4 && to == tile.Int8:
		return &widening{1, widenRows(from, loops.Int4ToInt8)}
	case narrow == nil:
		return nil
	case to == tile.BFloat16:
		return &widening{2, widenRows(from, narrow)}
	case to == tile.Float32:
		return &widening{4, widenRows(from, twice(narrow, rows.For(isa.Has(gemm.AVX2), isa.Has(gemm.AVX512)).FromBFloat16))}
	}
	return nil
}

func widenRows[T any](from tile.Dtype, loop func(dst []T, src []byte, off, ahead int)) func(dst, src []byte, off, ld, rows, n, to int) {
	return func(dst, src []byte, off, ld, rows, n, to int) {
		// Of rows this short processors guess badly what comes next: the memory
		// of a few rows further on is asked for.
		const page = 4096
		bits := from.Bits()
		ahead := min(max(page*8/bits/max(n, 1), 2), 16) * ld * bits / 8
		d := view[T](dst)
		for i := range rows {
			loop(d[i*to:i*to+n], src, off+i*ld, ahead)
		}
	}
}

var halfway = sync.Pool{New: func() any { return new([512]uint16) }}

// twice widens to bfloat16 and then to float32, which both hold the same numbers.
func twice(first func(dst []uint16, src []byte, off, ahead int), second func(dst []float32, x []uint16)) func(dst []float32, src []byte, off, ahead int) {
	return func(dst []float32, src []byte, off, ahead int) {
		between := halfway.Get().(*[512]uint16)
		defer halfway.Put(between)
		for len(dst) > 0 {
			n := min(len(dst), len(between))
			first(between[:n], src, off, ahead)
			second(dst[:n], between[:n])
			dst, off = dst[n:], off+n
		}
	}
}

// wideBytes is how much is widened at once: it stays in the second-level cache,
// and its rows are long enough to be read at the rate of memory.
const wideBytes = 256 << 10

var wideBuffers = sync.Pool{New: func() any {
	b := make([]uint64, wideBytes/8)
	return &b
}}

// packWidened widens some panels at a time, and packs them.
func (p packing) packWidened(w *widening, pack packFunc) packFunc {
	return func(dst []byte, apart int, src []byte, off, ld, lanes, k int, columns bool) {
		hold := wideBuffers.Get().(*[]uint64)
		defer wideBuffers.Put(hold)
		panel := p.lanes * k * w.size
		panels := max(1, wideBytes/max(panel, 1))
		if words := ceil(panel, 8); words > len(*hold) { // deeper than any chunk of the usual depth
			*hold = make([]uint64, words)
		}
		buffer := bytesOf(*hold)
		for lane := 0; lane < lanes; lane += panels * p.lanes {
			n := min(panels*p.lanes, lanes-lane)
			if columns {
				w.rows(buffer, src, off+lane, ld, k, n, n)
				pack(dst, apart, buffer, 0, n, n, k, true)
			} else {
				w.rows(buffer, src, off+lane*ld, ld, n, k, k)
				pack(dst, apart, buffer, 0, k, n, k, false)
			}
			dst = dst[min(panels*apart, len(dst)):]
		}
	}
}

// How many words of a lane a chunk has of a b that is widened, so that rows of
// wideBytes are long: packed after that, or not.
const (
	packedWords = 256
	directWords = 128
)

// widened reports whether a b that is not packed is widened before it is
// multiplied, and not by the micro-kernel.
func (o *operand) widened() bool { return o.packing.widening != nil && !o.packing.inPlace }

// sizeWide chooses how many columns of a b that is not packed are widened at once.
func (o *operand) sizeWide() {
	size := o.packing.widening.size
	panels := max(1, wideBytes/(o.depth*o.packing.lanes*size))
	o.piece = min(panels*o.packing.lanes, o.lanes)
}

// wideStride is how many factors rows of a piece lie apart: whole lines, and not
// so that those of one column fall into one set of the cache.
func (o *operand) wideStride() int {
	line := 64 / o.packing.widening.size
	return (ceil(o.piece, line) | 1) * line
}

// multiplyWidened is product.direct with a b that is widened piece by piece.
func (w *worker) multiplyWidened(d *dot, x call) {
	o := w.plan.operands[d.b]
	from, n := x.b, x.n
	x.b = factor{mem: o.mem.of(w.mem), ld: o.wideStride()}
	for j := 0; j < n; j += o.piece {
		x.n = min(o.piece, n-j)
		o.packing.widening.rows(x.b.mem, from.mem, from.off+j, from.ld, x.k, x.n, x.b.ld)
		d.product.direct(x)
		x.off += x.n
	}
}
