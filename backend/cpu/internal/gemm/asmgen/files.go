package asmgen

import "path"

// Files returns what is written, by its path from the folder of gemm: files of assembly and,
// for each folder and architecture, one in Go that declares their routines.
func Files() map[string][]byte {
	wide := func(p Product) Tile {
		return Tile{Vector: avx512, Product: p, MR: 12, Vectors: 2, Heights: []int{12, 10, 8, 6, 4, 2, 1}}
	}
	narrow := func(p Product) Tile {
		return Tile{Vector: avx2, Product: p, MR: 6, Vectors: 2, Heights: []int{6, 5, 4, 3, 2, 1}, Parts: true}
	}
	ahead := func(t Tile) func(*Asm) {
		t.Ahead = true
		return t.tile
	}
	wideEdge := func(p Product) func(*Asm) {
		t := wide(p)
		t.Parts = true
		return t.edge
	}
	direct := func(d Direct, p Product) func(*Asm) {
		d.Tile = Tile{Vector: avx512, Product: p, MR: 12, Vectors: 2, Heights: []int{12, 8, 4, 2, 1}}
		return d.tile
	}
	directNarrow := func(d Direct, p Product) func(*Asm) {
		d.Tile = Tile{Vector: avx2, Product: p, MR: 6, Vectors: 2, Heights: []int{6, 4, 2, 1}}
		return d.tile
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
	all := map[string]*Asm{
		"tile_neon_arm64.s":            fileOf(arm64, neon...),
		"../probe/peak_arm64.s":        fileOf(arm64, neonPeak...),
		"tile_float32_avx512_amd64.s":  file(wide(float32s).tile, ahead(wide(float32s)), wide(float32s).column, wide(float32s).tileRows, wide(float32s).columnRows),
		"tile_bfloat16_avx512_amd64.s": file(wide(bfloat16s).tile, ahead(wide(bfloat16s)), wide(bfloat16s).column, wide(bfloat16s).tileRows, wide(bfloat16s).columnRows),
		"direct_avx512_amd64.s": file(direct(directFloat32, float32s), direct(directWideBFloat16, float32s),
			direct(directBFloat16, bfloat16s), quadsOrder, direct(directQuads, quads)),
		"direct_avx2_amd64.s": file(directNarrow(directFloat32, float32s), directNarrow(directWideBFloat16, float32s),
			directNarrow(directPairs, pairs), avx2.columnNumbers),
		"dots_avx512_amd64.s":       file(Dots{avx512, float32s, 4}.dots, Dots{avx512, bfloat16s, 4}.dots),
		"dots_avx2_amd64.s":         file(Dots{avx2, float32s, 2}.dots),
		"stream_avx2_amd64.s":       file(streamFloat32.stream, streamBFloat16.stream, streamPairs.stream),
		"tile_quads_avx512_amd64.s": file(wide(quads).tile, ahead(wide(quads)), wide(quads).column, wide(quads).tileRows, wide(quads).columnRows, wide(quads).panelBias, wide(quads).rowsBias),
		"tile_pairs_avx512_amd64.s": file(wide(pairsFused).tile, wide(pairsFused).column, wide(pairs).tile, wide(pairs).column),
		"tile_float32_avx2_amd64.s": file(narrow(float32s).tile, ahead(narrow(float32s)), narrow(float32s).column, narrow(float32s).tileRows, narrow(float32s).columnRows, avx2.columnNumbers),
		"tile_pairs_avx2_amd64.s":   file(narrow(pairsVEX).tile, narrow(pairsVEX).column, narrow(pairs).tile, narrow(pairs).column, avx2.columnNumbers),
		"edge_avx2_amd64.s":         file(narrow(float32s).edge, narrow(pairs).edge),
		"edge_avx512_amd64.s":       file(wideEdge(float32s), wideEdge(bfloat16s)),
		"tile_quads_avx2_amd64.s": file(narrow(quadsVEX).tile, ahead(narrow(quadsVEX)), narrow(quadsVEX).column,
			narrow(quadsVEX).tileRows, narrow(quadsVEX).columnRows, narrow(quadsVEX).panelBias, narrow(quadsVEX).rowsBias, avx2.columnNumbers),
		"inplace_avx2_amd64.s": file(inPlace...),
		"tiles_amx_amd64.s":    file(bfloat16Tiles.tiles, int8Tiles.tiles),
		"pack_avx512_amd64.s":  file(packWide...),
		"pack_avx2_amd64.s":    file(packNarrow...),
		"../probe/peak_amd64.s": file(peak(avx2, float32s), peak(avx2, pairs), peak(avx2, quadsVEX),
			peak(avx512, float32s), peak(avx512, bfloat16s), peak(avx512, pairs), peak(avx512, quads),
			bfloat16Tiles.peak, int8Tiles.peak),
	}
	files, declared := map[string][]byte{}, map[string][]*Asm{}
	for name, a := range all {
		files[name] = a.Bytes()
		stubs := path.Join(path.Dir(name), "assembly_"+a.arch.name+".go")
		declared[stubs] = append(declared[stubs], a)
	}
	for name, list := range declared {
		files[name] = stubs(path.Dir(name), list)
	}
	return files
}

func file(routines ...func(*Asm)) *Asm { return fileOf(amd64, routines...) }

func fileOf(arch Arch, routines ...func(*Asm)) *Asm {
	a := newAsm(arch, "")
	for _, routine := range routines {
		routine(a)
	}
	return a
}
