package gemm

import (
	"sync"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/probe"
)

func avx2Kernels(host probe.HostInfo) *Kernels {
	const mr, nr = 6, 16
	f := shape[float32]{AVX2, mr, nr, kernel[float32]{tile: tileFloat32AVX2, thin: thinFloat32AVX2, column: columnFloat32AVX2, edge: edgeFloat32AVX2, gemv: gemvKernel[float32]{gemvFloat32AVX2, 4, 8, 1, false, spreadFloat32AVX2, nil, 0, nil, nil},
		rows: rowsKernel[float32]{tile: rowsFloat32AVX2, column: columnRowsFloat32AVX2, odd: true}}}
	i := shape[int32]{AVX2, mr, nr, kernel[int32]{tile: tilePairsAVX2, column: columnPairsAVX2, edge: edgePairsAVX2}}
	if cpu.X86.HasAVXVNNI {
		i.kernel.tile, i.kernel.column = tilePairsVNNIAVX2, columnPairsVNNIAVX2
	}
	k := &Kernels{ISA: AVX2, Strided: Strided{mr, nr, stridedFloat32AVX2, stridedRowFloat32AVX2}}
	k.Float32 = newPath(host, f, formatFloat32, pack.Float32AVX2)
	k.WideBFloat16 = newPath(host, f, formatFloat32, pack.BFloat16AVX2)
	k.WideInt8 = newPath(host, i, formatPairs, pack.WideInt8AVX2)
	k.WideUint8 = newPath(host, i, formatPairs, pack.WideUint8AVX2)
	k.Float32.direct = directKernel[float32]{tiles: widening(8, []directTile[float32]{{directFloat32x1AVX2, 6, 0}, {directFloat32x2AVX2, 6, 0}, {directFloat32x3AVX2, 3, 0}, {directFloat32x4AVX2, 2, 0}}...), pays: 128, pieces: hostPieces(host, mr, nr, 2*mr+1, mr-1)}
	k.WideBFloat16.direct = directKernel[float32]{tiles: []directTile[float32]{{directWideBFloat16AVX2, mr, nr}}, pays: 80, whole: true, deep: true, pieces: hostPieces(host, mr, nr, 2*mr+1, mr+1)}
	k.WideInt8.direct = directKernel[int32]{tiles: []directTile[int32]{{directPairsAVX2, mr, nr}}, pays: 48, whole: true, pieces: hostPieces(host, mr, nr, mr+1, mr-2)}
	k.inPlaceAVX2()
	k.Float32.stream = streamKernel[float32]{streamFloat32AVX2, 3, asTheyAre(streamRows)}
	k.Float32.dots = dotsKernel[float32]{dotsFloat32AVX2, 4, copyColumns[uint32]}
	k.WideBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 3, asTheyAre(streamRows)}
	k.WideInt8.stream = streamKernel[int32]{streamPairsAVX2, 3, asTheyAre(streamRows / 2)}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	k.groups = newGroups(host, i, formatPairs, groupsPairsAVX2, pack.WideInt8AVX2)
	if cpu.X86.HasAVXVNNI {
		i.kernel = kernel[int32]{tile: tileQuadsAVX2, thin: thinQuadsAVX2, column: columnQuadsAVX2, bias: panelBiasAVX2,
			rows: rowsKernel[int32]{rowsQuadsAVX2, columnRowsQuadsAVX2, true, rowsBiasAVX2}}
		k.ThinBFloat16, k.ThinInt8 = k.BFloat16, k.Int8
		k.Int8 = newPath(host, i, formatQuads, pack.Int8AVX2)
	}
	return k
}

func avx512Kernels(host probe.HostInfo) *Kernels {
	const mr, nr = 12, 32
	f := shape[float32]{AVX512, mr, nr, kernel[float32]{tile: tileFloat32AVX512, thin: thinFloat32AVX512, column: columnFloat32AVX512, edge: edgeFloat32AVX512, gemv: gemvKernel[float32]{gemvFloat32AVX512, 8, 16, 1, false, spreadFloat32AVX512, nil, 0, flatFloat32AVX512, nil},
		rows: rowsKernel[float32]{tile: rowsFloat32AVX512, column: columnRowsFloat32AVX512}}}
	i := shape[int32]{AVX512, mr, nr, kernel[int32]{tile: tilePairsAVX512, column: columnPairsAVX512}}
	if cpu.X86.HasAVX512VNNI {
		i.kernel.tile, i.kernel.column = tilePairsVNNIAVX512, columnPairsVNNIAVX512
	}
	k := &Kernels{ISA: AVX512, Strided: Strided{mr, nr, stridedFloat32AVX512, stridedRowFloat32AVX512}}
	k.Float32 = newPath(host, f, formatFloat32, pack.Float32AVX512)
	k.WideBFloat16 = newPath(host, f, formatFloat32, pack.BFloat16AVX512)
	k.WideInt8 = newPath(host, i, formatPairs, pack.WideInt8AVX512)
	k.WideUint8 = newPath(host, i, formatPairs, pack.WideUint8AVX512)
	k.Float32.direct = directKernel[float32]{tiles: widening(16, []directTile[float32]{{directFloat32x1AVX512, 12, 0}, {directFloat32x2AVX512, 12, 0}, {directFloat32x3AVX512, 9, 0}, {directFloat32x4AVX512, 6, 0}, {directFloat32x5AVX512, 5, 0}, {directFloat32x6AVX512, 4, 0}, {directFloat32x7AVX512, 3, 0}, {directFloat32x8AVX512, 2, 0}}...), pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
	k.Float32.direct.packs(host, mr, nr, packingFloat32AVX512)
	k.WideBFloat16.direct = directKernel[float32]{tiles: widening(16, []directTile[float32]{{directWideBFloat16x1AVX512, 12, 0}, {directWideBFloat16x2AVX512, 12, 0}, {directWideBFloat16x3AVX512, 6, 0}, {directWideBFloat16x4AVX512, 6, 0}}...), pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
	k.WideBFloat16.direct.packs(host, mr, nr, packingWideBFloat16AVX512)
	k.Float32.stream = streamKernel[float32]{streamFloat32AVX2, 2, asTheyAre(streamRows)}
	k.Float32.dots = dotsKernel[float32]{dotsFloat32AVX512, 8, copyColumns[uint32]}
	k.WideBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 2, asTheyAre(streamRows)}
	k.WideBFloat16.dots = dotsKernel[float32]{dotsWideBFloat16AVX512, 4, widenColumns[uint32]}
	k.WideBFloat16.kernel.gemv = gemvKernel[float32]{gemvWideBFloat16AVX512, 4, 16, 1, true, nil, outerWideBFloat16AVX512, 6, nil, nil}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	if cpu.X86.HasAVX512BF16 {
		f.kernel = kernel[float32]{tile: tileBFloat16AVX512, thin: thinBFloat16AVX512, column: columnBFloat16AVX512, edge: edgeBFloat16AVX512, gemv: gemvKernel[float32]{gemvBFloat16AVX512, 8, 16, 2, false, nil, outerWideBFloat16AVX512, 6, nil, nil},
			rows: rowsKernel[float32]{tile: rowsBFloat16AVX512, column: columnRowsBFloat16AVX512}}
		k.PairsBFloat16 = newPath(host, f, formatBFloat16, pack.PairsBFloat16AVX512)
		k.PairsBFloat16.direct = directKernel[float32]{tiles: []directTile[float32]{{directBFloat16AVX512, mr, nr}}, pays: 48, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
		k.PairsBFloat16.stream = streamKernel[float32]{streamBFloat16AVX2, 2, wordsOfPairs}
		k.PairsBFloat16.dots = dotsKernel[float32]{dotsBFloat16AVX512, 8, copyColumns[uint32]}
		k.inGroupsAVX512()
		if pairsAreFaster() {
			k.BFloat16 = k.PairsBFloat16
		}
	}
	if narrow := For(AVX2); narrow != nil {
		k.groups = narrow.groups
	}
	if cpu.X86.HasAVX512VNNI {
		i.kernel = kernel[int32]{tile: tileQuadsAVX512, thin: thinQuadsAVX512, column: columnQuadsAVX512, bias: panelBiasAVX512, gemv: gemvKernel[int32]{gemvQuadsAVX512, 8, 16, 4, false, nil, outerQuadsAVX512, 128, flatQuadsAVX512, rowsBiasAVX512},
			rows: rowsKernel[int32]{rowsQuadsAVX512, columnRowsQuadsAVX512, false, rowsBiasAVX512}}
		k.Int8 = newPath(host, i, formatQuads, pack.Int8AVX512)
		k.Int8.direct = directKernel[int32]{tiles: []directTile[int32]{{directQuadsAVX512, mr, nr}}, pays: 24, pieces: hostPieces(host, mr, nr, AllRows, AllRows)}
		k.Int8.direct.packs(host, mr, nr, packingQuadsAVX512)
		k.Int8.stream = streamKernel[int32]{streamPairsAVX2, 2, pairsOfQuads}
		k.groups = newGroups(host, i, formatQuads, groupsQuadsAVX512, pack.Int8AVX512)
	}
	return k
}

// pairsAreFaster measures once, as processors with the instruction differ: some have twice the rate
// of float32 by it, others half of it. Where both are equal pairs win by their smaller panels.
var pairsAreFaster = sync.OnceValue(func() bool {
	pairs, widened := probe.BFloat16Pairs()
	return pairs > 0.9*widened
})
