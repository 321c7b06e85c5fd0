package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/memory"
)

// The twins in Go of routines in assembly, to compare with, that no machine runs in their
// place: those that machines do run, and are compared with too, stand beside the kernels.

// tileQuads returns the twin of the tile on quads of bytes, signed in a and
// unsigned in b.
func tileQuads(mr, nr int) tile[int32] {
	return tileOfWords(mr, nr, func(s int32, a, b uint32) int32 { return s + dotQuads(a, b) })
}

// tileSignedQuads returns the twin of the tile on quads of bytes that are signed on both
// sides.
func tileSignedQuads(mr, nr int) tile[int32] {
	return tileOfWords(mr, nr, func(s int32, a, b uint32) int32 {
		return s + dotQuads(a, b^pack.OffsetQuads) - dotQuads(a, pack.OffsetQuads)
	})
}

// tileOfWords returns a tile that adds the product of a word of a and one of b to a sum.
func tileOfWords[C Sum](mr, nr int, add func(s C, a, b uint32) C) tile[C] {
	return func(c *C, ldc, steps int, a, b *uint32, bias *C, _ uintptr, rows, cols int, accumulate bool) {
		av, bv := span(a, steps*mr), span(b, steps*nr)
		for i := 0; i < rows; i += 2 {
			for j := 0; j < cols; j += 4 {
				s := start(bias, i)
				for l := range steps {
					x, y := av[l*mr+i:l*mr+i+2], bv[l*nr+j:l*nr+j+4]
					for q := range 4 {
						s[q] = add(s[q], x[0], y[q])
						s[q+4] = add(s[q+4], x[1], y[q])
					}
				}
				store(c, ldc, &s, i, j, rows, cols, accumulate)
			}
		}
	}
}

// dotQuads multiplies the signed bytes of a by the unsigned bytes of b.
func dotQuads(a, b uint32) int32 {
	return int32(int8(a))*int32(uint8(b)) +
		int32(int8(a>>8))*int32(uint8(b>>8)) +
		int32(int8(a>>16))*int32(uint8(b>>16)) +
		int32(int8(a>>24))*int32(uint8(b>>24))
}

// panelBias returns the twin of the assembly for panels of mr rows:
//
//	for i := range mr {
//		dst[i] = -128 * sum(a[l*mr+i]) // over steps l and the signed bytes of a word
//	}
func panelBias(mr int) func(dst, a *uint32, steps int) {
	return func(dst, a *uint32, steps int) {
		d, w := span(dst, mr), span(a, steps*mr)
		for i := range mr {
			var s int32
			for l := range steps {
				s -= dotQuads(w[l*mr+i], pack.OffsetQuads)
			}
			d[i] = uint32(s)
		}
	}
}

// rowsBias is the twin of panelBias for rows lda bytes apart.
func rowsBias(dst, a *uint32, lda, steps, rows int) {
	for i := range rows {
		panelBias(1)(&span(dst, rows)[i], offset(a, i*lda), steps)
	}
}

// tileBFloat16 returns the twin of the tile on pairs of bfloat16. It models
// VDPBF16PS to the bit, for finite numbers.
func tileBFloat16(mr, nr int) tile[float32] { return tileOfWords(mr, nr, addPair) }

// addPair adds the products of two pairs of bfloat16, first that of the upper
// halves, each product exact and each sum rounded to nearest even. Denormal
// numbers count as zero wherever they come up.
func addPair(s float32, a, b uint32) float32 {
	const upper = 0xffff << 16
	s = addProduct(flush(s), a&upper, b&upper)
	return addProduct(s, a<<16, b<<16)
}

// columnTiles returns the twin of a column, of tiles of mr rows and nr columns.
func columnTiles[C Sum](mr, nr int, tile tile[C]) column[C] {
	return func(c *C, ldc, steps int, a, b *uint32, bias *C, next, end uintptr, panels, panel int, accumulate bool) {
		for p := range panels {
			tile(&span(c, p*mr*ldc+1)[p*mr*ldc], ldc, steps, &span(a, p*panel+1)[p*panel], b, biasFrom(bias, p*mr), next, mr, nr, accumulate)
		}
	}
}

// biasFrom is the bias of the rows from i on.
func biasFrom[C Sum](bias *C, i int) *C {
	if bias == nil {
		return nil
	}
	return offset(bias, i*wordBytes)
}

// edgeTiles returns the twin of an edge, of tiles of mr rows.
func edgeTiles[C Sum](mr int, tile tile[C]) edge[C] {
	return func(c *C, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool) {
		for i := 0; i < rows; i += mr {
			tile(&span(c, i*ldc+1)[i*ldc], ldc, steps, &span(a, i/mr*panel+1)[i/mr*panel], b, nil, next, min(mr, rows-i), cols, accumulate)
		}
	}
}

// rowsTiles returns the twin of a rowsTile, of tiles of mr rows.
func rowsTiles[C Sum](mr int, tile tile[C]) rowsTile[C] {
	return func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
		panel := make([]uint32, steps*mr)
		for i := range rows {
			for s, word := range span(offset(a, i*lda), steps) {
				panel[s*mr+i] = word
			}
		}
		tile(c, ldc, steps, &panel[0], b, bias, next, rows, cols, accumulate)
	}
}

// rowsColumns returns the twin of a rowsColumn, of tiles of mr rows and nr columns.
func rowsColumns[C Sum](mr, nr int, tile rowsTile[C]) rowsColumn[C] {
	return func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next, end uintptr, panels int, accumulate bool) {
		for p := range panels {
			tile(offset(c, p*mr*ldc*wordBytes), ldc, steps, offset(a, p*mr*lda), lda, b, biasFrom(bias, p*mr), next, mr, nr, accumulate)
		}
	}
}

// streamWords returns the twin of the streams of float32 and bfloat16.
func streamWords[S Source](e pack.Encoding[S]) stream[float32] {
	return func(c *float32, a *uint32, b unsafe.Pointer, ldb, cols int, _ uintptr, accumulate bool) {
		words := span((*float32)(unsafe.Pointer(a)), streamRows)
		for j, at := range rowsOf[S](b, ldb, cols) {
			var s float32
			for l, x := range words {
				bits := e.Bits(at(l))
				s += x * *(*float32)(unsafe.Pointer(&bits))
			}
			add(c, j, s, accumulate)
		}
	}
}

// streamPairs is the twin of the stream of int8.
func streamPairs(c *int32, a *uint32, b unsafe.Pointer, ldb, cols int, _ uintptr, accumulate bool) {
	words := span(a, streamRows/2)
	for j, at := range rowsOf[int8](b, ldb, cols) {
		var s int32
		for l, x := range words {
			s += int32(int16(x))*int32(at(2*l)) + (int32(x)>>16)*int32(at(2*l+1))
		}
		add(c, j, s, accumulate)
	}
}

// rowsOf goes through columns, whose elements of b are by row.
func rowsOf[S Source](b unsafe.Pointer, ldb, cols int) func(yield func(int, func(int) S) bool) {
	return func(yield func(int, func(int) S) bool) {
		for j := range cols {
			if !yield(j, func(l int) S { return *(*S)(unsafe.Add(b, l*ldb+j*memory.Size[S]())) }) {
				return
			}
		}
	}
}

func add[C Sum](c *C, j int, s C, accumulate bool) {
	to := &span(c, j+1)[j]
	if accumulate {
		s += *to
	}
	*to = s
}

// packTilesA packs a panel of a for tiles in Go: element l of lane i comes from
// src[i*laneStride+l*kStride].
func packTilesA[S Source](dst []uint32, src []S, laneStride, kStride, lanes, k int, e pack.Encoding[S]) {
	field := 32 / e.KU
	for i := range tilesMR {
		for l := range ceil(k, e.KU*tilesWords) * tilesWords {
			w := uint32(0)
			for u := range e.KU {
				if at := l*e.KU + u; i < lanes && at < k {
					w |= e.Bits(src[i*laneStride+at*kStride]) & uint32(1<<field-1) << (u * field)
				}
			}
			dst[(l/tilesWords*tilesMR+i)*tilesWords+l%tilesWords] = w
		}
	}
}

// packTilesGo packs a with packTilesA.
func packTilesGo[S Source](e pack.Encoding[S]) pack.Packer[S] {
	panels := func(dst []uint32, panel int, src []S, laneStride, kStride, extent, k int) {
		for lane := 0; lane < extent && k > 0; lane += tilesMR {
			packTilesA(dst[lane/tilesMR*panel:], src[lane*laneStride:], laneStride, kStride, min(tilesMR, extent-lane), k, e)
		}
	}
	return pack.Packer[S]{
		Rows: func(dst []uint32, src []S, ld, extent, k int) {
			panels(dst, ceil(k, e.KU*tilesWords)*tilesMR*tilesWords, src, ld, 1, extent, k)
		},
		Columns: func(dst []uint32, panel int, src []S, ld, extent, k int) {
			panels(dst, panel, src, 1, ld, extent, k)
		},
	}
}

// gemvElements returns the twin of a gemv, whose elements of a are offset.
func gemvElements[S Source, C Sum](offset float64) gemv[C] {
	return func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *C, accumulate bool) {
		for i := range rows {
			x := unsafe.Slice((*S)(unsafe.Add(a, i*lda)), k)
			for j := range cols {
				var s C
				if bias != nil {
					s = span(bias, j+1)[j]
				}
				for l, v := range unsafe.Slice((*S)(unsafe.Add(b, j*gemvColumn*wordBytes)), k) {
					s += C((offset + number(x[l])) * number(v))
				}
				add(&span(c, i*ldc+1)[i*ldc], j, s, accumulate)
			}
		}
	}
}
