package gemm

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/probe"
)

func table(isa ISA) *Kernels {
	switch isa {
	case AVX2:
		return avx2Kernels()
	case AVX512:
		return avx512Kernels()
	}
	return genericKernels()
}

func avx2Kernels() *Kernels {
	const mr, nr, vector = 6, 16, 8
	f := shape[float32]{AVX2, mr, nr, kernel[float32]{tile: tileFloat32AVX2}}
	i := shape[int32]{AVX2, mr, nr, kernel[int32]{tile: tilePairsAVX2}}
	k := &Kernels{ISA: AVX2}
	k.Float32 = newPath(f, formatFloat32, 1,
		packSIMD[float32]{asFloat32, mr, mr, vector, packFloat32Rows6AVX2, nil}.packer(),
		packSIMD[float32]{asFloat32, nr, vector, vector, packFloat32Rows8AVX2, packFloat32ColumnsAVX2}.packer())
	k.WideBFloat16 = newPath(f, formatFloat32, 1,
		packSIMD[uint16]{asBFloat16, mr, mr, vector, packBFloat16Rows6AVX2, nil}.packer(),
		packSIMD[uint16]{asBFloat16, nr, vector, vector, packBFloat16Rows8AVX2, packBFloat16ColumnsAVX2}.packer())
	k.WideInt8 = newPath(i, formatPairs, 2,
		packSIMD[int8]{asPairs, mr, mr, vector, packPairsInt8Rows6AVX2, nil}.packer(),
		packSIMD[int8]{asPairs, nr, vector, vector, packPairsInt8Rows8AVX2, packPairsInt8ColumnsAVX2}.packer())
	k.WideUint8 = newPath(i, formatPairs, 2,
		packSIMD[uint8]{asPairsU, mr, mr, vector, packPairsUint8Rows6AVX2, nil}.packer(),
		packSIMD[uint8]{asPairsU, nr, vector, vector, packPairsUint8Rows8AVX2, packPairsUint8ColumnsAVX2}.packer())
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	return k
}

func avx512Kernels() *Kernels {
	const mr, nr, vector = 12, 32, 16
	f := shape[float32]{AVX512, mr, nr, kernel[float32]{tile: tileFloat32AVX512}}
	i := shape[int32]{AVX512, mr, nr, kernel[int32]{tile: tilePairsAVX512}}
	if cpu.X86.HasAVX512VNNI {
		i.kernel.tile = tilePairsVNNIAVX512
	}
	k := &Kernels{ISA: AVX512}
	k.Float32 = newPath(f, formatFloat32, 1,
		packSIMD[float32]{asFloat32, mr, mr, vector, packFloat32Rows12AVX512, nil}.packer(),
		packSIMD[float32]{asFloat32, nr, vector, vector, packFloat32Rows16AVX512, packFloat32ColumnsAVX512}.packer())
	k.WideBFloat16 = newPath(f, formatFloat32, 1,
		packSIMD[uint16]{asBFloat16, mr, mr, vector, packBFloat16Rows12AVX512, nil}.packer(),
		packSIMD[uint16]{asBFloat16, nr, vector, vector, packBFloat16Rows16AVX512, packBFloat16ColumnsAVX512}.packer())
	k.WideInt8 = newPath(i, formatPairs, 2,
		packSIMD[int8]{asPairs, mr, mr, vector, packPairsInt8Rows12AVX512, nil}.packer(),
		packSIMD[int8]{asPairs, nr, vector, vector, packPairsInt8Rows16AVX512, packPairsInt8ColumnsAVX512}.packer())
	k.WideUint8 = newPath(i, formatPairs, 2,
		packSIMD[uint8]{asPairsU, mr, mr, vector, packPairsUint8Rows12AVX512, nil}.packer(),
		packSIMD[uint8]{asPairsU, nr, vector, vector, packPairsUint8Rows16AVX512, packPairsUint8ColumnsAVX512}.packer())
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	if cpu.X86.HasAVX512BF16 {
		f.kernel = kernel[float32]{tile: tileBFloat16AVX512}
		// A pair in memory is a word, so rows are packed as those of float32.
		k.PairsBFloat16 = newPath(f, formatBFloat16, 2,
			packSIMD[uint16]{asPairsBFloat16, mr, mr, vector, packFloat32Rows12AVX512, nil}.packer(),
			packSIMD[uint16]{asPairsBFloat16, nr, vector, vector, packFloat32Rows16AVX512, packPairsBFloat16ColumnsAVX512}.packer())
		if pairsAreFaster() {
			k.BFloat16 = k.PairsBFloat16
		}
	}
	if cpu.X86.HasAVX512VNNI {
		i.kernel = kernel[int32]{tile: tileQuadsAVX512, bias: offsetBiasAVX512}
		k.Int8 = newPath(i, formatQuads, 4,
			packSIMD[int8]{asOffsetQuads, mr, mr, vector, flipRows(packQuadsRows12AVX512, offsetQuads), nil}.packer(),
			packSIMD[int8]{asQuads, nr, vector, vector, flipRows(packQuadsRows16AVX512, 0), flipColumns(packQuadsColumnsAVX512, 0)}.packer())
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

// flipRows and flipColumns fix the words that the packing of quads is xored with.
func flipRows(f func(*uint32, unsafe.Pointer, int, int, int, int, uint64), flip uint64) packRows {
	return func(dst *uint32, src unsafe.Pointer, ld, stride, lanes, blocks int) {
		f(dst, src, ld, stride, lanes, blocks, flip)
	}
}

func flipColumns(f func(*uint32, unsafe.Pointer, int, int, uint64), flip uint64) packColumns {
	return func(dst *uint32, src unsafe.Pointer, ld, steps int) { f(dst, src, ld, steps, flip) }
}
