package pack

import (
	"unsafe"

	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// Routines in assembly. ld is in bytes, stride in words; units, rows and panels are at least
// 1. Numbers in names are those of lanes written; those beyond lanes are zero. Some have one
// more argument, flip, which each word is xored with.
type (
	// A packRows transposes rows of src to lanes of a panel stride wide. units counts bytes
	// for Words and elements for the others, perWord of them being one word; without AVX-512
	// they are whole squares, as many words as a vector has:
	//
	//	for l := range tile.Ceil(units, perWord) {
	//		for i := range number {
	//			w := uint32(0)
	//			if i < lanes {
	//				w = word(src[i*ld + l*perWord…]) // 0 beyond units
	//			}
	//			dst[l*stride+i] = w
	//		}
	//	}
	packRows func(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int)

	// A packColumns folds KU rows each to one step of panels number wide, which lie panel words
	// apart. Without AVX-512 it reads whole vectors from each row, whatever lanes is; with it, it
	// prefetches what lies below bytes past each row that it reads (without, it ignores below):
	//
	//	for p := range panels {
	//		for l := range tile.Ceil(rows, KU) {
	//			for i := range number {
	//				w := uint32(0)
	//				if i < lanes {
	//					w = word(src[(l*KU)*ld+p*number+i], …, src[(l*KU+KU-1)*ld+p*number+i]) // 0 beyond rows
	//				}
	//				dst[p*panel+l*number+i] = w
	//			}
	//		}
	//	}
	packColumns func(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int)
)

// packSIMD packs by vectors, and leaves to packElements what they cannot do without masks: rows
// beyond the last whole square, and columns so near the end of src that a vector would read beyond.
type packSIMD[S Source] struct {
	Encoding[S]
	isa     simd
	width   int // of the panel
	lanes   int // written by rows: width, or a part of it
	unit    int // that rows counts, in one element
	rows    packRows
	columns packColumns
}

// simd is what packing asks of an instruction set.
type simd struct {
	words int // in a vector
	masks bool
	whole int // steps that panels are rounded up to, with zeros; 0 for one
}

func (p packSIMD[S]) packer() Packer[S] { return Packer[S]{Rows: p.packRows, Columns: p.packColumns} }

func (p packSIMD[S]) packRows(dst []uint32, src []S, ld, extent, k int) {
	whole := k
	if square := p.KU * p.isa.words; !p.isa.masks {
		whole = k / square * square
	}
	filled, panel := p.panel(k)
	for lane := 0; lane < extent; lane += p.width {
		within := min(p.width, extent-lane)
		if whole > 0 {
			for i := 0; i < p.width; i += p.lanes {
				from := min(lane+i, extent-1)
				p.rows(&dst[i], unsafe.Pointer(&src[from*ld]), ld*memory.Size[S](), p.width, max(0, within-i), whole*p.unit)
			}
		}
		if whole < k {
			packElements(dst[whole/p.KU*p.width:], src[lane*ld+whole:], ld, 1, within, k-whole, p.width, p.Encoding)
		}
		clear(dst[filled:panel])
		dst = dst[panel:]
	}
}

// panel is how many words of a panel hold elements, and how many it has.
func (p packSIMD[S]) panel(k int) (filled, all int) {
	steps, whole := tile.Ceil(k, p.KU), max(1, p.isa.whole)
	return steps * p.width, tile.Ceil(steps, whole) * whole * p.width
}

func (p packSIMD[S]) packColumns(dst []uint32, panel int, src []S, ld, extent, k int) {
	steps := p.rowsAtOnce() / p.KU
	if extent <= p.width {
		steps = tile.Ceil(k, p.KU) // one panel is no row to go along
	}
	whole := 0 // panels of which no vector reads beyond the last row
	if reach := p.reach(); extent >= reach {
		whole = (extent-reach)/p.width + 1
	}
	for l := 0; l < k; l += steps * p.KU {
		rows, below := min(steps*p.KU, k-l), 0
		if memory.Size[S]() == 1 && l+2*steps*p.KU <= k {
			below = rows * ld // those that are packed next: of wider elements processors bring enough
		}
		to, from := dst[l/p.KU*p.width:], src[l*ld:]
		if whole > 0 {
			p.columns(&to[0], unsafe.Pointer(&from[0]), ld*memory.Size[S](), rows, p.width, whole, panel, below)
		}
		for lane := whole * p.width; lane < extent; lane += p.width {
			p.edge(to[lane/p.width*panel:], from[lane:], ld, rows, min(p.width, extent-lane))
		}
	}
	filled, all := p.panel(k)
	for at := 0; filled < all && at < tile.Ceil(extent, p.width); at++ {
		clear(dst[at*panel:][filled:all])
	}
}

// rowsAtOnce is how many rows columns go along together, so that src is read along
// its rows: processors follow about as many streams, by measurement. With AVX-512 more
// were found to be better of bytes that vectors will multiply.
func (p packSIMD[S]) rowsAtOnce() int {
	switch {
	case !p.isa.masks:
		return 8
	case memory.Size[S]() == 1 && p.isa.whole == 0:
		return 64
	}
	return 16
}

// edge packs some rows of a panel that is not whole, or whose vectors might read
// beyond the last row of src.
func (p packSIMD[S]) edge(dst []uint32, src []S, ld, rows, lanes int) {
	safe := p.safe(len(src), ld, rows)
	if safe > 0 {
		p.columns(&dst[0], unsafe.Pointer(&src[0]), ld*memory.Size[S](), safe, lanes, 1, 0, 0)
	}
	if safe < rows {
		packElements(dst[safe/p.KU*p.width:], src[safe*ld:], 1, ld, lanes, rows-safe, p.width, p.Encoding)
	}
}

// reach is how many elements of a row are read for a panel: without masks, those of whole vectors.
func (p packSIMD[S]) reach() int {
	if p.isa.masks {
		return p.width
	}
	return tile.Ceil(p.width, p.isa.words) * p.isa.words
}

// safe is how many of some rows may be read by whole vectors if n elements
// follow the start of the first.
func (p packSIMD[S]) safe(n, ld, rows int) int {
	if p.isa.masks {
		return rows
	}
	safe := rows
	for safe > 0 && (safe-1)*ld+p.reach() > n {
		safe--
	}
	if safe < rows {
		safe = safe / p.KU * p.KU
	}
	return safe
}
