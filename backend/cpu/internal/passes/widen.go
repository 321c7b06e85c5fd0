package passes

import (
	"sync"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/cpu/internal/widen"
	"matladder/tile"
)

// widened returns packing p for operands that lie in memory as dtype from and
// are multiplied as dtype to; false if there is no such widening.
func widened(p plan.Packing, from, to tile.Dtype, isa gemm.ISA) (plan.Packing, bool) {
	w := wideningOf(from, to, isa)
	if w == nil {
		return p, false
	}
	p.Format += "<" + from.String()
	p.Widening = w
	p.Pack = packWidened(p, w, p.Pack)
	return p, true
}

// wideningOf is nil where codes of dtype from are not numbers of dtype to.
func wideningOf(from, to tile.Dtype, isa gemm.ISA) *plan.Widening {
	loops, arithmetic := widen.For(isa.Has(gemm.AVX2), isa.Has(gemm.AVX512)), rows.For(isa.Has(gemm.AVX2), isa.Has(gemm.AVX512))
	narrow := map[tile.Dtype]func(dst []uint16, src []byte, off, ahead int){
		tile.Int4:          loops.Int4,
		tile.Int8:          loops.Int8,
		tile.Float4E2M1FN:  loops.Float4,
		tile.Float8E4M3FN:  loops.Float8E4M3,
		tile.Float8E5M2:    loops.Float8E5M2,
		tile.Float8E8M0FNU: loops.Float8E8M0,
	}[from]
	switch {
	case from == tile.Float32 && to == from:
		return &plan.Widening{Size: 4, Rows: widenRows(from, func(dst []float32, src []byte, off, _ int) {
			copy(dst, memory.View[float32](src)[off:])
		}), One: func(src []byte, i int) float32 { return memory.View[float32](src)[i] }}
	case from == tile.Float16 && to == tile.Float32:
		return &plan.Widening{Size: 4, Rows: widenRows(from, loops.Float16)}
	case from == tile.Float4E2M1FN && to == tile.Int8: // twice the number
		return &plan.Widening{Size: 1, Rows: widenRows(from, loops.Float4ToInt8)}
	case from == tile.Int4 && to == tile.Int8:
		return &plan.Widening{Size: 1, Rows: widenRows(from, loops.Int4ToInt8)}
	case narrow == nil:
		return nil
	case to == tile.BFloat16:
		return &plan.Widening{Size: 2, Rows: widenRows(from, narrow), Scale: scaleRows(arithmetic.MulBFloat16)}
	case to == tile.Float32:
		return &plan.Widening{Size: 4, Rows: widenRows(from, twice(narrow, arithmetic.FromBFloat16)), Scale: scaleRows(func(x, by []float32) { arithmetic.Mul(x, x, by) })}
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
		d := memory.View[T](dst)
		for i := range rows {
			loop(d[i*to:i*to+n], src, off+i*ld, ahead)
		}
	}
}

var scaleBuffers = sync.Pool{New: func() any { return new([]float32) }}

// scaleRows is plan.Widening.Scale by what multiplies numbers by as many others.
func scaleRows[T any](mul func(x []T, by []float32)) func(dst []byte, rows, n, to int, columns bool, by plan.ScalesOfGroups) {
	return func(dst []byte, rows, n, to int, columns bool, by plan.ScalesOfGroups) {
		hold := scaleBuffers.Get().(*[]float32)
		defer scaleBuffers.Put(hold)
		if len(*hold) < 2*n {
			*hold = make([]float32, 2*n)
		}
		of, one := (*hold)[:n], (*hold)[n:2*n]
		d := memory.View[T](dst)
		for i := range rows {
			switch at := by.First + i; {
			case !columns: // a row of each group's scale, as often as it has elements
				groups := one[:(by.First+n-1)/by.Size+1]
				x := by.From(i)
				x.Lane, x.Group = x.Group, 0
				x.Row(groups, 0)
				for l, g := 0, 0; l < n; g++ {
					end := min(n, (g+1)*by.Size-by.First)
					memory.Fill(of[l:end], groups[g])
					l = end
				}
			case i == 0 || at%by.Size == 0:
				by.Row(of, at/by.Size)
			}
			mul(d[i*to:][:n], of)
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

var wideBuffers = sync.Pool{New: func() any { return new(make([]uint64, wideBytes/8)) }}

// packWidened widens some panels at a time, and packs them.
func packWidened(p plan.Packing, w *plan.Widening, pack plan.PackFunc) plan.PackFunc {
	return func(dst []byte, apart int, src []byte, off, ld, lanes, k int, columns bool, by plan.ScalesOfGroups) {
		hold := wideBuffers.Get().(*[]uint64)
		defer wideBuffers.Put(hold)
		panel := p.Lanes * k * w.Size
		panels := max(1, wideBytes/max(panel, 1))
		if words := tile.Ceil(panel, 8); words > len(*hold) { // deeper than any chunk of the usual depth
			*hold = make([]uint64, words)
		}
		buffer := memory.BytesOf(*hold)
		scale := func(rows, n int, by plan.ScalesOfGroups) {
			if by.Size > 0 && w.Scale != nil {
				w.Scale(buffer, rows, n, n, columns, by)
			}
		}
		for lane := 0; lane < lanes; lane += panels * p.Lanes {
			n := min(panels*p.Lanes, lanes-lane)
			if columns {
				w.Rows(buffer, src, off+lane, ld, k, n, n)
				scale(k, n, by.From(lane))
				pack(dst, apart, buffer, 0, n, n, k, true, by.From(lane))
			} else {
				w.Rows(buffer, src, off+lane*ld, ld, n, k, k)
				scale(n, k, by.From(lane))
				pack(dst, apart, buffer, 0, k, n, k, false, by.From(lane))
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

// sizeWide chooses how many columns of a b that is not packed are widened at once.
func sizeWide(o *plan.Operand) {
	size := o.Packing.Widening.Size
	panels := max(1, wideBytes/(o.Depth*o.Packing.Lanes*size))
	o.Piece = min(panels*o.Packing.Lanes, o.Lanes)
}
