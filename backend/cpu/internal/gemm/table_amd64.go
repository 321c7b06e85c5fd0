package gemm

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/probe"
)

func avx2Kernels(host probe.HostInfo) *Kernels {
	const mr, nr = 6, 16
	isa := simd{words: 8}
	f := shape[float32]{AVX2, mr, nr, kernel[float32]{tile: tileFloat32AVX2, thin: thinFloat32AVX2, column: columnFloat32AVX2, edge: edgeFloat32AVX2,
		rows: rowsKernel[float32]{tile: rowsFloat32AVX2, column: columnRowsFloat32AVX2, odd: true}}}
	i := shape[int32]{AVX2, mr, nr, kernel[int32]{tile: tilePairsAVX2, column: columnPairsAVX2, edge: edgePairsAVX2}}
	if cpu.X86.HasAVXVNNI {
		i.kernel.tile, i.kernel.column = tilePairsVNNIAVX2, columnPairsVNNIAVX2
	}
	words6, words8 := flipRows(packWordsRows6AVX2, 0), flipRows(packWordsRows8AVX2, 0)
	k := &Kernels{ISA: AVX2}
	k.Float32 = newPath(host, f, formatFloat32, 1,
		packSIMD[float32]{asFloat32, isa, mr, mr, 4, words6, packFloat32Columns6AVX2}.packer(),
		packSIMD[float32]{asFloat32, isa, nr, isa.words, 4, words8, packFloat32Columns16AVX2}.packer())
	k.WideBFloat16 = newPath(host, f, formatFloat32, 1,
		packSIMD[uint16]{asBFloat16, isa, mr, mr, 1, packBFloat16Rows6AVX2, packBFloat16Columns6AVX2}.packer(),
		packSIMD[uint16]{asBFloat16, isa, nr, isa.words, 1, packBFloat16Rows8AVX2, packBFloat16Columns16AVX2}.packer())
	k.WideInt8 = newPath(host, i, formatPairs, 2,
		packSIMD[int8]{asPairs, isa, mr, mr, 1, packPairsInt8Rows6AVX2, packPairsInt8Columns6AVX2}.packer(),
		packSIMD[int8]{asPairs, isa, nr, isa.words, 1, packPairsInt8Rows8AVX2, packPairsInt8Columns16AVX2}.packer())
	k.WideUint8 = newPath(host, i, formatPairs, 2,
		packSIMD[uint8]{asPairsU, isa, mr, mr, 1, packPairsUint8Rows6AVX2, packPairsUint8Columns6AVX2}.packer(),
		packSIMD[uint8]{asPairsU, isa, nr, isa.words, 1, packPairsUint8Rows8AVX2, packPairsUint8Columns16AVX2}.packer())
	k.Float32.direct = directKernel[float32]{tile: directFloat32AVX2, rows: mr, pays: 128, whole: true, pieces: hostPieces(host, mr, nr, 2*mr+1, mr-1)}
	k.WideBFloat16.direct = directKernel[float32]{tile: directWideBFloat16AVX2, rows: mr, pays: 80, whole: true, deep: true, pieces: hostPieces(host, mr, nr, 2*mr+1, mr+1)}
	k.WideInt8.direct = directKernel[int32]{tile: directPairsAVX2, rows: mr, pays: 48, whole: true, pieces: hostPieces(host, mr, nr, mr+1, mr-2)}
	k.inPlaceAVX2()
	k.Float32.stream = streamKernel[float32]{streamFloat32AVX2, 3, asTheyAre(streamRows)}
	k.Float32.dots = dotsKernel[float32]{dotsFloat32AVX2, 2, 8, 4}
	k.WideBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 3, asTheyAre(streamRows)}
	k.WideInt8.stream = streamKernel[int32]{streamPairsAVX2, 3, asTheyAre(streamRows / 2)}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	if cpu.X86.HasAVXVNNI {
		i.kernel = kernel[int32]{tile: tileQuadsAVX2, thin: thinQuadsAVX2, column: columnQuadsAVX2, bias: panelBiasAVX2,
			rows: rowsKernel[int32]{rowsQuadsAVX2, columnRowsQuadsAVX2, true, rowsBiasAVX2}}
		k.ThinBFloat16, k.ThinInt8 = k.BFloat16, k.Int8
		k.Int8 = newPath(host, i, formatQuads, 4,
			packSIMD[int8]{asQuads, isa, mr, mr, 1, words6, flipColumns(packQuadsColumns6AVX2, 0)}.packer(),
			packSIMD[int8]{asOffsetQuads, isa, nr, isa.words, 1, flipRows(packWordsRows8AVX2, offsetQuads), flipColumns(packQuadsColumns16AVX2, offsetQuads)}.packer())
	}
	return k
}

func avx512Kernels(host probe.HostInfo) *Kernels {
	const mr, nr = 12, 32
	isa := simd{words: 16, masks: true}
	f := shape[float32]{AVX512, mr, nr, kernel[float32]{tile: tileFloat32AVX512, thin: thinFloat32AVX512, column: columnFloat32AVX512, edge: edgeFloat32AVX512,
		rows: rowsKernel[float32]{tile: rowsFloat32AVX512, column: columnRowsFloat32AVX512}}}
	i := shape[int32]{AVX512, mr, nr, kernel[int32]{tile: tilePairsAVX512, column: columnPairsAVX512}}
	if cpu.X86.HasAVX512VNNI {
		i.kernel.tile, i.kernel.column = tilePairsVNNIAVX512, columnPairsVNNIAVX512
	}
	words12, words16 := flipRows(packWordsRows12AVX512, 0), flipRows(packWordsRows16AVX512, 0)
	k := &Kernels{ISA: AVX512}
	k.Float32 = newPath(host, f, formatFloat32, 1,
		packSIMD[float32]{asFloat32, isa, mr, mr, 4, words12, packFloat32Columns12AVX512}.packer(),
		packSIMD[float32]{asFloat32, isa, nr, isa.words, 4, words16, packFloat32Columns32AVX512}.packer())
	k.WideBFloat16 = newPath(host, f, formatFloat32, 1,
		packSIMD[uint16]{asBFloat16, isa, mr, mr, 1, packBFloat16Rows12AVX512, packBFloat16Columns12AVX512}.packer(),
		packSIMD[uint16]{asBFloat16, isa, nr, isa.words, 1, packBFloat16Rows16AVX512, packBFloat16Columns32AVX512}.packer())
	k.WideInt8 = newPath(host, i, formatPairs, 2,
		packSIMD[int8]{asPairs, isa, mr, mr, 1, packPairsInt8Rows12AVX512, packPairsInt8Columns12AVX512}.packer(),
		packSIMD[int8]{asPairs, isa, nr, isa.words, 1, packPairsInt8Rows16AVX512, packPairsInt8Columns32AVX512}.packer())
	k.WideUint8 = newPath(host, i, formatPairs, 2,
		packSIMD[uint8]{asPairsU, isa, mr, mr, 1, packPairsUint8Rows12AVX512, packPairsUint8Columns12AVX512}.packer(),
		packSIMD[uint8]{asPairsU, isa, nr, isa.words, 1, packPairsUint8Rows16AVX512, packPairsUint8Columns32AVX512}.packer())
	k.Float32.direct = directKernel[float32]{tile: directFloat32AVX512, rows: mr, pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
	k.WideBFloat16.direct = directKernel[float32]{tile: directWideBFloat16AVX512, rows: mr, pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
	k.Float32.stream = streamKernel[float32]{streamFloat32AVX2, 2, asTheyAre(streamRows)}
	k.Float32.dots = dotsKernel[float32]{dotsFloat32AVX512, 4, 16, 8}
	k.WideBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 2, asTheyAre(streamRows)}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	if cpu.X86.HasAVX512BF16 {
		f.kernel = kernel[float32]{tile: tileBFloat16AVX512, thin: thinBFloat16AVX512, column: columnBFloat16AVX512, edge: edgeBFloat16AVX512,
			rows: rowsKernel[float32]{tile: rowsBFloat16AVX512, column: columnRowsBFloat16AVX512}}
		k.PairsBFloat16 = newPath(host, f, formatBFloat16, 2,
			packSIMD[uint16]{asPairsBFloat16, isa, mr, mr, 2, words12, packPairsBFloat16Columns12AVX512}.packer(),
			packSIMD[uint16]{asPairsBFloat16, isa, nr, isa.words, 2, words16, packPairsBFloat16Columns32AVX512}.packer())
		k.PairsBFloat16.direct = directKernel[float32]{tile: directBFloat16AVX512, rows: mr, pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
		k.PairsBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 2, wordsOfPairs}
		k.PairsBFloat16.dots = dotsKernel[float32]{dotsBFloat16AVX512, 4, 16, 8}
		if pairsAreFaster() {
			k.BFloat16 = k.PairsBFloat16
		}
	}
	if cpu.X86.HasAVX512VNNI {
		i.kernel = kernel[int32]{tile: tileQuadsAVX512, thin: thinQuadsAVX512, column: columnQuadsAVX512, bias: panelBiasAVX512,
			rows: rowsKernel[int32]{rowsQuadsAVX512, columnRowsQuadsAVX512, false, rowsBiasAVX512}}
		k.Int8 = newPath(host, i, formatQuads, 4,
			packSIMD[int8]{asQuads, isa, mr, mr, 1, words12, flipColumns(packQuadsColumns12AVX512, 0)}.packer(),
			packSIMD[int8]{asOffsetQuads, isa, nr, isa.words, 1, flipRows(packWordsRows16AVX512, offsetQuads), flipColumns(packQuadsColumns32AVX512, offsetQuads)}.packer())
		k.Int8.direct = directKernel[int32]{tile: directQuadsAVX512, rows: mr, pays: 24, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
		k.Int8.stream = streamKernel[int32]{streamPairsAVX2, 2, pairsOfQuads}
	}
	return k
}

// pairsAreFaster measures once, as processors with the instruction differ: some
// have twice the rate of float32 by it, others half of it. Where both are
// equal pairs win by their smaller panels.
var pairsAreFaster = sync.OnceValue(func() bool {
	pairs, widened := probe.BFloat16Pairs()
	return pairs > 0.9*widened
})

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
