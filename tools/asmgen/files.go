package asmgen

import (
	"path"
	"slices"
)

// Files returns what is written, by its path from the folder of gemm: files of assembly and,
// for each folder and architecture, one in Go that declares their routines.
func Files() map[string][]byte {
	wide := func(p Product) Tile {
		return Tile{Vector: avx512, Product: p, MR: 12, Vectors: 2, Heights: []int{12, 10, 8, 6, 4, 2, 1}}
	}
	narrow := func(p Product) Tile {
		return Tile{Vector: avx2, Product: p, MR: 6, Vectors: 2, Heights: []int{6, 5, 4, 3, 2, 1}, Parts: true}
	}
	all := func(t Tile, more ...func(*Asm)) *Asm {
		return file(append([]func(*Asm){t.tile, t.thin, t.column, t.tileRows, t.columnRows}, more...)...)
	}
	packWide, packNarrow := []func(*Asm){quadsOrder}, []func(*Asm){avx2.columnNumbers}
	for _, l := range lines {
		packWide = append(packWide, l.rows(avx512, 12), l.rows(avx512, 16))
		packNarrow = append(packNarrow, l.rows(avx2, 6), l.rows(avx2, 8))
	}
	packWide = append(packWide, packTileRows)
	for _, e := range elements {
		packWide = append(packWide, e.columns(avx512, 12), e.columns(avx512, 32))
		if e.Name != "PairsBFloat16" { // AVX2 does not multiply them
			packNarrow = append(packNarrow, e.columns(avx2, 6), e.columns(avx2, 16))
		}
	}
	inPlace := []func(*Asm){constantsInPlace}
	for _, t := range inPlaces {
		inPlace = append(inPlace, t.kernel)
		if len(t.shapes) == len(inPlaceShapes) && t.most == "" {
			inPlace = append(inPlace, t.panels)
		}
	}
	inPlace = append(inPlace, inPlaceBytesInt4)
	var neon, neonPeak []func(*Asm)
	for _, n := range neonTiles {
		neon, neonPeak = append(neon, n.tile), append(neonPeak, n.peak)
	}
	files := map[string]*Asm{
		"tile_neon_arm64.s":            fileOf(arm64, neon...),
		"strided_neon_arm64.s":         fileOf(arm64, neonTiles[0].strided("strided", neonRows), neonTiles[0].strided("stridedRow", 1)),
		"strided_avx512_amd64.s":       file(wide(float32s).strided("strided", 12), wide(float32s).strided("stridedRow", 1)),
		"strided_avx2_amd64.s":         file(narrow(float32s).strided("strided", 6), narrow(float32s).strided("stridedRow", 1)),
		"../probe/peak_arm64.s":        fileOf(arm64, neonPeak...),
		"tile_float32_avx512_amd64.s":  all(wide(float32s)),
		"tile_bfloat16_avx512_amd64.s": all(wide(bfloat16s)),
		"direct_avx512_amd64.s": file(directFloat32.wide(wide(float32s), 8), directWideBFloat16.wide(wide(float32s), 4),
			directBFloat16.on(wide(bfloat16s)), quadsOrder, directQuads.on(wide(quads)),
			directFloat32.packing(wide(float32s)), directWideBFloat16.packing(wide(float32s)), directQuads.packing(wide(quads))),
		"direct_avx2_amd64.s": file(directFloat32.wide(narrow(float32s), 4), directWideBFloat16.on(narrow(float32s)),
			directPairs.on(narrow(pairs)), avx2.columnNumbers),
		"dots_avx512_amd64.s": file(Gemv{avx512, float32s, 4, 8, true}.gemv, Gemv{avx512, bfloat16s, 2, 8, true}.gemv, Gemv{avx512, wideBFloat16s, 2, 4, true}.gemv),
		"dots_avx2_amd64.s":   file(Gemv{avx2, float32s, 4, 4, true}.gemv, avx2.columnNumbers),
		"gemv_avx512_amd64.s": file(Gemv{avx512, float32s, 4, 8, false}.gemv, Gemv{avx512, float32s, 4, 8, false}.spread, Gemv{avx512, float32s, 4, 8, false}.flat, Gemv{avx512, bfloat16s, 2, 8, false}.gemv, Gemv{avx512, wideBFloat16s, 2, 4, false}.gemv, Gemv{avx512, wideBFloat16s, 2, 4, false}.outer,
			Gemv{avx512, quads, 1, 8, false}.gemv, Gemv{avx512, quads, 1, 8, false}.outer, Gemv{avx512, quads, 1, 8, false}.flatQuads),
		"gemv_avx2_amd64.s":         file(Gemv{avx2, float32s, 4, 4, false}.gemv, Gemv{avx2, float32s, 4, 4, false}.spread, avx2.columnNumbers),
		"stream_avx2_amd64.s":       file(streamFloat32.stream, streamBFloat16.stream, streamPairs.stream),
		"tile_quads_avx512_amd64.s": all(wide(quads), wide(quads).panelBias, wide(quads).rowsBias),
		"tile_pairs_avx512_amd64.s": file(wide(pairsFused).tile, wide(pairsFused).column, wide(pairs).tile, wide(pairs).column),
		"tile_float32_avx2_amd64.s": all(narrow(float32s), avx2.columnNumbers),
		"tile_pairs_avx2_amd64.s":   file(narrow(pairsVEX).tile, narrow(pairsVEX).column, narrow(pairs).tile, narrow(pairs).column, avx2.columnNumbers),
		"groups_avx512_amd64.s":     file(wide(quads).groups),
		"groups_avx2_amd64.s":       file(narrow(pairs).groups),
		"edge_avx2_amd64.s":         file(narrow(float32s).edge, narrow(pairs).edge),
		"edge_avx512_amd64.s":       file(wide(float32s).edge, wide(bfloat16s).edge),
		"tile_quads_avx2_amd64.s":   all(narrow(quadsVEX), narrow(quadsVEX).panelBias, narrow(quadsVEX).rowsBias, avx2.columnNumbers),
		"inplace_avx512_amd64.s":    file(turnsOfBoth, inPlaceNibbles),
		"inplace_avx2_amd64.s":      file(inPlace...),
		"tiles_amx_amd64.s":         file(bfloat16Tiles.tiles, int8Tiles.tiles),
		"pack/pack_avx512_amd64.s":  file(packWide...),
		"pack/pack_avx2_amd64.s":    file(packNarrow...),
		"../probe/peak_amd64.s": file(peak(avx2, float32s), peak(avx2, pairs), peak(avx2, quadsVEX),
			peak(avx512, float32s), peak(avx512, bfloat16s), peak(avx512, pairs), peak(avx512, quads),
			bfloat16Tiles.peak, int8Tiles.peak),
		"../rows/rows_avx2_amd64.s":     file(slices.Concat(rowsAVX2(), extremes, quantize, []func(*Asm){chains(avx2)})...),
		"../rows/rows_avx512_amd64.s":   file(append(rowsAVX512(), chains(avx512))...),
		"../vexp/vexp_avx2_amd64.s":     file(vexp(avx2)...),
		"../vexp/vexp_avx512_amd64.s":   file(vexp(avx512)...),
		"../widen/widen_avx2_amd64.s":   file(widenAVX2()...),
		"../widen/widen_avx512_amd64.s": file(widenAVX512()...),
	}
	texts, declared := map[string][]byte{}, map[string][]*Asm{}
	for name, a := range files {
		texts[name] = a.Bytes()
		stubs := path.Join(path.Dir(name), "assembly_"+a.arch.name+".go")
		declared[stubs] = append(declared[stubs], a)
	}
	for name, list := range declared {
		texts[name] = stubs(path.Dir(name), list)
	}
	return texts
}

func file(routines ...func(*Asm)) *Asm { return fileOf(amd64, routines...) }

func fileOf(arch Arch, routines ...func(*Asm)) *Asm {
	a := newAsm(arch, "")
	for _, routine := range routines {
		routine(a)
	}
	return a
}
