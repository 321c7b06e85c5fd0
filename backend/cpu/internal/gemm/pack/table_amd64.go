package pack

import "unsafe"

var (
	vectors256 = simd{words: 8}
	vectors512 = simd{words: 16, masks: true}
	forTiles   = simd{words: 16, masks: true, whole: TileWords}

	words6, words8   = flipRows(packWordsRows6AVX2, 0), flipRows(packWordsRows8AVX2, 0)
	words12, words16 = flipRows(packWordsRows12AVX512, 0), flipRows(packWordsRows16AVX512, 0)
)

// Those of AVX2, in panels of 6 and 16 lanes.
var (
	Float32AVX2   = avx2(AsFloat32, AsFloat32, 4, words6, words8, packFloat32Columns6AVX2, packFloat32Columns16AVX2)
	BFloat16AVX2  = avx2(AsBFloat16, AsBFloat16, 1, packBFloat16Rows6AVX2, packBFloat16Rows8AVX2, packBFloat16Columns6AVX2, packBFloat16Columns16AVX2)
	WideInt8AVX2  = avx2(AsPairs, AsPairs, 1, packPairsInt8Rows6AVX2, packPairsInt8Rows8AVX2, packPairsInt8Columns6AVX2, packPairsInt8Columns16AVX2)
	WideUint8AVX2 = avx2(AsPairsU, AsPairsU, 1, packPairsUint8Rows6AVX2, packPairsUint8Rows8AVX2, packPairsUint8Columns6AVX2, packPairsUint8Columns16AVX2)
	Int8AVX2      = avx2(AsQuads, AsOffsetQuads, 1, words6, flipRows(packWordsRows8AVX2, OffsetQuads), flipColumns(packQuadsColumns6AVX2, 0), flipColumns(packQuadsColumns16AVX2, OffsetQuads))
)

// Those of AVX-512, in panels of 12 and 32 lanes.
var (
	Float32AVX512       = avx512(AsFloat32, AsFloat32, 4, words12, words16, packFloat32Columns12AVX512, packFloat32Columns32AVX512)
	BFloat16AVX512      = avx512(AsBFloat16, AsBFloat16, 1, packBFloat16Rows12AVX512, packBFloat16Rows16AVX512, packBFloat16Columns12AVX512, packBFloat16Columns32AVX512)
	PairsBFloat16AVX512 = avx512(AsPairsBFloat16, AsPairsBFloat16, 2, words12, words16, packPairsBFloat16Columns12AVX512, packPairsBFloat16Columns32AVX512)
	WideInt8AVX512      = avx512(AsPairs, AsPairs, 1, packPairsInt8Rows12AVX512, packPairsInt8Rows16AVX512, packPairsInt8Columns12AVX512, packPairsInt8Columns32AVX512)
	WideUint8AVX512     = avx512(AsPairsU, AsPairsU, 1, packPairsUint8Rows12AVX512, packPairsUint8Rows16AVX512, packPairsUint8Columns12AVX512, packPairsUint8Columns32AVX512)
	Int8AVX512          = avx512(AsQuads, AsOffsetQuads, 1, words12, flipRows(packWordsRows16AVX512, OffsetQuads), flipColumns(packQuadsColumns12AVX512, 0), flipColumns(packQuadsColumns32AVX512, OffsetQuads))
)

// Those of AMX.
var (
	BFloat16AMX = tiles(packSIMD[uint16]{AsPairsBFloat16, forTiles, TileLanes, forTiles.words, 2, words16, packPairsBFloat16Columns32AVX512})
	Int8AMX     = tiles(packSIMD[int8]{AsQuads, forTiles, TileLanes, forTiles.words, 1, words16, flipColumns(packQuadsColumns32AVX512, 0)})
)

func avx2[S Source](a, b Encoding[S], unit int, rowsA, rowsB packRows, columnsA, columnsB packColumns) Sides[S] {
	return Sides[S]{a.KU, packSIMD[S]{a, vectors256, 6, 6, unit, rowsA, columnsA}.packer(), packSIMD[S]{b, vectors256, 16, 8, unit, rowsB, columnsB}.packer()}
}

func avx512[S Source](a, b Encoding[S], unit int, rowsA, rowsB packRows, columnsA, columnsB packColumns) Sides[S] {
	return Sides[S]{a.KU, packSIMD[S]{a, vectors512, 12, 12, unit, rowsA, columnsA}.packer(), packSIMD[S]{b, vectors512, 32, 16, unit, rowsB, columnsB}.packer()}
}

func tiles[S Source](words packSIMD[S]) Sides[S] {
	return Sides[S]{words.KU * TileWords, packTiles[S]{words}.packer(), words.packer()}
}

// flipRows and flipColumns fix the words that packed ones are xored with.
func flipRows(f func(*uint32, unsafe.Pointer, int, int, int, int, uint64), flip uint64) packRows {
	return func(dst *uint32, src unsafe.Pointer, ld, stride, lanes, units int) {
		f(dst, src, ld, stride, lanes, units, flip)
	}
}

func flipColumns(f func(*uint32, unsafe.Pointer, int, int, int, int, int, int, uint64), flip uint64) packColumns {
	return func(dst *uint32, src unsafe.Pointer, ld, rows, lanes, panels, panel, below int) {
		f(dst, src, ld, rows, lanes, panels, panel, below, flip)
	}
}
