package pack

import (
	"unsafe"

	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// packTiles packs a for tiles; words packs panels of the same shape for b.
type packTiles[S Source] struct{ words packSIMD[S] }

func (p packTiles[S]) packer() Packer[S] { return Packer[S]{Rows: p.rowsOfA, Columns: p.columnsOfA} }

// rowsOfA copies rows of memory to rows of tiles, up to 32 at a time:
//
//	for l := range tile.Ceil(bytes, 64) {
//		for i := range 32 {
//			dst[(l*32+i)*16:][:16] = 64 bytes of row i from 64*l on, or zeros beyond
//		}
//	}
func (p packTiles[S]) rowsOfA(dst []uint32, src []S, ld, extent, k int) {
	if k == 0 {
		return
	}
	panel := tile.Ceil(k, p.words.KU*TileWords) * TileLanes * TileWords
	for lane := 0; lane < extent; lane += TileLanes {
		packTileRowsAVX512(&dst[0], unsafe.Pointer(&src[lane*ld]), ld*memory.Size[S](), min(TileLanes, extent-lane), k*memory.Size[S]())
		dst = dst[panel:]
	}
}

// columnsOfA packs columns of memory a step at a time as words of a panel of b,
// which it then transposes.
func (p packTiles[S]) columnsOfA(dst []uint32, panel int, src []S, ld, extent, k int) {
	var words [TileWords * TileLanes]uint32
	unit := p.words.KU * TileWords
	for lane := 0; lane < extent; lane += TileLanes {
		to := dst[lane/TileLanes*panel:]
		for l := 0; l < k; l += unit {
			deep := min(unit, k-l)
			p.words.packColumns(words[:], len(words), src[l*ld+lane:], ld, min(TileLanes, extent-lane), deep)
			packWordsRows16AVX512(&to[l/unit*len(words)], unsafe.Pointer(&words), TileLanes*wordBytes, TileWords,
				tile.Ceil(deep, p.words.KU), TileLanes*wordBytes, 0)
		}
	}
}
