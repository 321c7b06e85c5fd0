// Package pack lays operands out in panels, which micro-kernels read forward only.
//
//	pack.go       elements as words, and in Go what each routine computes
//	simd.go       by vectors
//	tiles.go      rows of tiles
//	table_*.go    both sides of the paths of an instruction set
package pack

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// A Packer fills panels of width words from matrices of extent × k elements,
// extent being m for a and n for b.
type Packer[S Source] struct {
	// Rows: element l of lane i is src[i*ld+l].
	Rows func(dst []uint32, src []S, ld, extent, k int)
	// Columns: element l of lane i is src[l*ld+i]. Panels lie panel words apart: they
	// may be parts, along k, of deeper ones.
	Columns func(dst []uint32, panel int, src []S, ld, extent, k int)
}

// Go packs in Go, one element at a time.
func Go[S Source](width int, e Encoding[S]) Packer[S] {
	return panelByPanel(width, func(k int) int { return tile.Ceil(k, e.KU) * width },
		func(dst []uint32, src []S, laneStride, kStride, lanes, k int) {
			packElements(dst, src, laneStride, kStride, lanes, k, width, e)
		})
}

// panelByPanel packs width lanes at a time, to panels of so many words where they
// follow each other. Element l of lane i is src[i*laneStride+l*kStride].
func panelByPanel[S Source](width int, words func(k int) int, pack func(dst []uint32, src []S, laneStride, kStride, lanes, k int)) Packer[S] {
	all := func(dst []uint32, panel int, src []S, laneStride, kStride, extent, k int) {
		for lane := 0; lane < extent && k > 0; lane += width {
			pack(dst[lane/width*panel:], src[lane*laneStride:], laneStride, kStride, min(width, extent-lane), k)
		}
	}
	return Packer[S]{
		Rows: func(dst []uint32, src []S, ld, extent, k int) { all(dst, words(k), src, ld, 1, extent, k) },
		Columns: func(dst []uint32, panel int, src []S, ld, extent, k int) {
			all(dst, panel, src, 1, ld, extent, k)
		},
	}
}

// packElements packs a panel: element l of lane i comes from src[i*laneStride+l*kStride].
func packElements[S Source](dst []uint32, src []S, laneStride, kStride, lanes, k, width int, e Encoding[S]) {
	if floats, ok := any(src).([]float32); ok {
		packFloats(dst, floats, laneStride, kStride, lanes, k, width)
		return
	}
	field := 32 / e.KU
	mask := uint32(1<<field - 1)
	for l := 0; l < k; l += e.KU {
		from := src[l*kStride:]
		if e.KU == 1 {
			for i := range lanes {
				dst[i] = e.Bits(from[i*laneStride])
			}
		} else {
			for i := range lanes {
				w := e.Zero
				for u := range min(e.KU, k-l) {
					w &^= mask << (u * field)
					w |= e.Bits(from[i*laneStride+u*kStride]) & mask << (u * field)
				}
				dst[i] = w
			}
		}
		for i := lanes; i < width; i++ {
			dst[i] = e.Zero
		}
		dst = dst[width:]
	}
}

// packFloats is packElements of elements that are words.
func packFloats(dst []uint32, src []float32, laneStride, kStride, lanes, k, width int) {
	for l := range k {
		to, from := dst[l*width:][:width], src[l*kStride:]
		if laneStride == 1 {
			copy(memory.View[float32](memory.BytesOf(to)), from[:lanes])
		} else {
			for i := range lanes {
				to[i] = math.Float32bits(from[i*laneStride])
			}
		}
		clear(to[lanes:])
	}
}

// A Source is the element type of an operand in memory; uint16 holds bfloat16.
type Source interface {
	float32 | uint16 | int8 | uint8
}

// An Encoding turns one element into the low 32/KU bits of a word; Zero is
// the word of elements that are all zero.
type Encoding[S Source] struct {
	KU   int
	Bits func(S) uint32
	Zero uint32
}

var (
	AsFloat32  = Encoding[float32]{KU: 1, Bits: math.Float32bits}
	AsBFloat16 = Encoding[uint16]{KU: 1, Bits: func(v uint16) uint32 { return uint32(v) << 16 }}

	// Pairs of bfloat16 for the instruction that multiplies and adds two of them.
	AsPairsBFloat16 = Encoding[uint16]{KU: 2, Bits: func(v uint16) uint32 { return uint32(v) }}

	// Pairs of int16 for the instructions that multiply and add two of them.
	AsPairs  = Encoding[int8]{KU: 2, Bits: func(v int8) uint32 { return uint32(int16(v)) }}
	AsPairsU = Encoding[uint8]{KU: 2, Bits: func(v uint8) uint32 { return uint32(v) }}

	// Quads of bytes for VNNI, which multiplies unsigned by signed: b is stored
	// as b+128, and sums start from -128 times the sum of their row of a.
	AsOffsetQuads = Encoding[int8]{KU: 4, Bits: func(v int8) uint32 { return uint32(uint8(v) ^ 0x80) }, Zero: OffsetQuads}
	AsQuads       = Encoding[int8]{KU: 4, Bits: func(v int8) uint32 { return uint32(uint8(v)) }}
)

// OffsetQuads is 128 in each byte of a word: what bytes of b are offset by.
const OffsetQuads = 0x80808080

// Sides are how a path packs A and B, in words of KU elements; a step of tiles has as many
// more of them.
type Sides[S Source] struct {
	KU   int
	A, B Packer[S]
}

// InGo are sides of so many rows and columns a panel.
func InGo[S Source](e Encoding[S], mr, nr int) Sides[S] { return Sides[S]{e.KU, Go(mr, e), Go(nr, e)} }

// What tiles have of A and of B: lanes of a panel, and words of a lane in one step.
const (
	TileLanes = 32
	TileWords = 16
)

const wordBytes = 4
