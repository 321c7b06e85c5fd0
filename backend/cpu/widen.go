package cpu

import (
	"math"
	"sync"

	"matladder/tile"
)

// An operand whose dtype is not the factor's is widened while it is packed, so
// that it moves as few bytes as it has.

// widened returns packing p for operands that lie in memory as dtype from and
// are multiplied as dtype to; false if there is no such widening.
func (p packing) widened(from, to tile.Dtype) (packing, bool) {
	var f func(dst, src []byte, off, ld, lanes, k int, columns bool)
	switch to {
	case tile.Int8:
		f = widening(p, from, 1, func(x float64) int8 { return int8(x) })
	case tile.BFloat16:
		f = widening(p, from, 2, func(x float64) uint16 { return uint16(math.Float32bits(float32(x)) >> 16) })
	case tile.Float32:
		f = widening(p, from, 4, func(x float64) float32 { return float32(x) })
	}
	if f == nil {
		return p, false
	}
	p.format += "<" + from.String()
	p.pack = f
	return p, true
}

// bufferBytes is how much is widened at once: it stays in the first-level cache.
const bufferBytes = 32 << 10

var buffers32 = sync.Pool{New: func() any {
	// Packing may read a vector beyond the last lane.
	b := make([]uint64, (bufferBytes+64)/8)
	return &b
}}

// widening packs panel by panel, by way of a buffer; nil if a code of dtype from
// is not one number of to, whose size is given in bytes.
func widening[T int8 | uint16 | float32](p packing, from tile.Dtype, size int, value func(float64) T) func(dst, src []byte, off, ld, lanes, k int, columns bool) {
	read := reader(from, value)
	if read == nil {
		return nil
	}
	return func(dst, src []byte, off, ld, lanes, k int, columns bool) {
		hold := buffers32.Get().(*[]uint64)
		defer buffers32.Put(hold)
		buffer := view[T](bytesOf(*hold))
		fit := len(*hold) * 8 / size
		for lane := 0; lane < lanes; lane += p.lanes {
			n := min(p.lanes, lanes-lane)
			if n*k > fit {
				buffer = make([]T, n*k+64/size) // a panel deeper than any chunk of the usual depth
				fit = n * k
			}
			if columns {
				for l := range k {
					read(buffer[l*n:l*n+n], src, off+l*ld+lane)
				}
				p.pack(dst, bytesOf(buffer), 0, n, n, k, true)
			} else {
				for i := range n {
					read(buffer[i*k:i*k+k], src, off+(lane+i)*ld)
				}
				p.pack(dst, bytesOf(buffer), 0, k, n, k, false)
			}
			dst = dst[min(p.panel(k), len(dst)):]
		}
	}
}

// reader returns what reads elements of a dtype from number off on; nil for one
// that needs no table.
func reader[T any](from tile.Dtype, value func(float64) T) func(dst []T, src []byte, off int) {
	switch from {
	case tile.Int8, tile.Float8E4M3FN, tile.Float8E5M2:
		var table [256]T
		code := tile.Tensor{Dtype: from, Shape: []int{1}, Data: make([]byte, 1)}
		for c := range table {
			code.Data[0] = byte(c)
			table[c] = value(code.At(0))
		}
		return func(dst []T, src []byte, off int) {
			src = src[off : off+len(dst)]
			for i := range dst {
				dst[i] = table[src[i]]
			}
		}
	case tile.Int4:
		var low, high [256]T // the two elements of a byte
		for c := range low {
			low[c], high[c] = value(float64(int8(c<<4)>>4)), value(float64(int8(c)>>4))
		}
		return func(dst []T, src []byte, off int) {
			if off%2 != 0 && len(dst) > 0 {
				dst[0], dst, off = high[src[off/2]], dst[1:], off+1
			}
			src = src[off/2:]
			n := len(dst) / 2
			for i, c := range src[:n] {
				pair := dst[2*i : 2*i+2]
				pair[0], pair[1] = low[c], high[c]
			}
			if len(dst)%2 != 0 {
				dst[2*n] = low[src[n]]
			}
		}
	}
	return nil
}
