package asmgen

// Files returns the assembly files by their path from the folder of gemm.
func Files() map[string][]byte {
	wide := func(p Product) Tile {
		return Tile{Vector: avx512, Product: p, MR: 12, Vectors: 2, Heights: []int{12, 8, 4}}
	}
	narrow := func(p Product) Tile {
		return Tile{Vector: avx2, Product: p, MR: 6, Vectors: 2, Heights: []int{6, 4, 2}}
	}
	var packWide, packNarrow []func(*Asm)
	for _, e := range elements {
		if e.rowsOf == "" {
			packWide = append(packWide, e.rows(avx512, 12), e.rows(avx512, 16))
		}
		packWide = append(packWide, e.columns(avx512, 2))
		if e.avx512 {
			continue
		}
		packNarrow = append(packNarrow, e.rows(avx2, 6), e.rows(avx2, 8), e.columns(avx2, 2))
	}
	return map[string][]byte{
		"tile_float32_avx512_amd64.s":  file(wide(float32s).tile),
		"tile_bfloat16_avx512_amd64.s": file(wide(bfloat16s).tile),
		"tile_quads_avx512_amd64.s":    file(wide(quads).tile, wide(quads).offsetBias),
		"tile_pairs_avx512_amd64.s":    file(wide(pairsFused).tile, wide(pairs).tile),
		"tile_float32_avx2_amd64.s":    file(narrow(float32s).tile, narrow(float32s).columnNumbers),
		"tile_pairs_avx2_amd64.s":      file(narrow(pairs).tile, narrow(pairs).columnNumbers),
		"pack_avx512_amd64.s":          file(packWide...),
		"pack_avx2_amd64.s":            file(packNarrow...),
		"../probe/peak_amd64.s": file(peak(avx2, float32s), peak(avx2, pairs),
			peak(avx512, float32s), peak(avx512, bfloat16s), peak(avx512, pairs), peak(avx512, quads)),
	}
}

func file(routines ...func(*Asm)) []byte {
	a := NewAsm("")
	for _, routine := range routines {
		routine(a)
	}
	return a.Bytes()
}
