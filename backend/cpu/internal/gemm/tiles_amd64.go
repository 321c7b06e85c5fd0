package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/amx"
	"matladder/backend/cpu/internal/probe"
)

// stripsAMX makes a strips of the loop at type strip for whole panels of a, of which there are
// some, and shapes as amx.Grid gives them for the rows of a panel and the columns of c: tall if
// more than 16 of the one, wide if more than 16 of the other. It calls it for the whole panels of a, and again for the rest,
// whose tiles have fewer rows.
func stripsAMX[C Sum](kernel func(x *strip[C])) strips[C] {
	return func(x *strip[C]) {
		whole, rest := x.rows/tilesMR, x.rows%tilesMR
		x.wide = x.cols > amx.Rows
		if whole > 0 {
			x.config, x.panels, x.tall = amx.Grid(tilesMR, x.cols), whole, true
			kernel(x)
		}
		if rest > 0 {
			if whole > 0 {
				x.sum = offset(x.sum, (whole+1)/2*x.sumPanel+whole/2*x.sumAfter)
				x.c, x.a = offset(x.c, whole*x.panel), offset(x.a, whole*x.panelA)
			}
			x.stream, x.copy = streamNot, nil // what was to be copied has been
			x.config, x.panels, x.tall = amx.Grid(rest, x.cols), 1, rest > amx.Rows
			kernel(x)
		}
	}
}

// amxKernels is the table of AVX-512 with the products that tiles multiply
// faster, by a measurement made once.
func amxKernels(host probe.HostInfo) *Kernels {
	k := avx512Kernels(host)
	k.ISA = AMX
	k.ThinBFloat16, k.ThinInt8 = k.BFloat16, k.Int8
	wide := simd{words: 16, masks: true, whole: tilesWords}
	words16 := flipRows(packWordsRows16AVX512, 0)
	halves := packSIMD[uint16]{asPairsBFloat16, wide, tilesNR, wide.words, 2, words16, packPairsBFloat16Columns32AVX512}
	bytes := packSIMD[int8]{asQuads, wide, tilesNR, wide.words, 1, words16, flipColumns(packQuadsColumns32AVX512, 0)}
	k.TilesBFloat16 = newTilesPath(host, formatBFloat16Tiles, stripsAMX(tilesBFloat16AMX), halves)
	k.TilesInt8 = newTilesPath(host, formatInt8Tiles, stripsAMX(tilesInt8AMX), bytes)
	faster := tilesAreFaster()
	if faster.bfloat16 {
		k.BFloat16 = k.TilesBFloat16
		k.ThinBFloat16.direct.pays = min(k.ThinBFloat16.direct.pays, tilesDirectRows)
	}
	if faster.int8 {
		k.Int8 = k.TilesInt8
		k.ThinInt8.direct.pays = min(k.ThinInt8.direct.pays, tilesDirectRows)
	}
	return k
}

func newTilesPath[S Source, C Sum](host probe.HostInfo, format string, kernel strips[C], words packSIMD[S]) *Path[S, C] {
	s := shape[C]{isa: AMX, mr: tilesMR, nr: tilesNR}
	p := newPath(host, s, format, words.ku*tilesWords, packTiles[S]{words}.packer(), words.packer())
	p.kernel.strips, p.Words, p.blocking = kernel, tilesWords, tilesBlocking(host)
	return p
}

// packTiles packs a for tiles; words packs panels of the same shape for b.
type packTiles[S Source] struct{ words packSIMD[S] }

func (p packTiles[S]) packer() packer[S] {
	return packer[S]{rows: p.rowsOfA, columns: p.columnsOfA}
}

// rowsOfA copies rows of memory to rows of tiles, up to 32 at a time:
//
//	for l := range ceil(bytes, 64) {
//		for i := range 32 {
//			dst[(l*32+i)*16:][:16] = 64 bytes of row i from 64*l on, or zeros beyond
//		}
//	}
func (p packTiles[S]) rowsOfA(dst []uint32, src []S, ld, extent, k int) {
	if k == 0 {
		return
	}
	panel := ceil(k, p.words.ku*tilesWords) * tilesMR * tilesWords
	for lane := 0; lane < extent; lane += tilesMR {
		packTileRowsAVX512(&dst[0], at(src, lane*ld), ld*size[S](), min(tilesMR, extent-lane), k*size[S]())
		dst = dst[panel:]
	}
}

// columnsOfA packs columns of memory a step at a time as words of a panel of b,
// which it then transposes.
func (p packTiles[S]) columnsOfA(dst []uint32, panel int, src []S, ld, extent, k int) {
	var words [tilesWords * tilesMR]uint32
	unit := p.words.ku * tilesWords
	for lane := 0; lane < extent; lane += tilesMR {
		to := dst[lane/tilesMR*panel:]
		for l := 0; l < k; l += unit {
			deep := min(unit, k-l)
			p.words.packColumns(words[:], len(words), src[l*ld+lane:], ld, min(tilesMR, extent-lane), deep)
			packWordsRows16AVX512(&to[l/unit*len(words)], unsafe.Pointer(&words), tilesMR*wordBytes, tilesWords,
				ceil(deep, p.words.ku), tilesMR*wordBytes, 0)
		}
	}
}
