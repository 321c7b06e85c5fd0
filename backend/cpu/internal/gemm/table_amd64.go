package gemm

import "golang.org/x/sys/cpu"

func table(isa ISA) *Kernels {
	switch isa {
	case AVX2:
		f := shape[float32]{AVX2, 6, 16, kernel[float32]{tile: tileFloat32AVX2}}
		i := shape[int32]{AVX2, 6, 16, kernel[int32]{tile: tilePairsAVX2}}
		return newKernels(f, i)
	case AVX512:
		f := shape[float32]{AVX512, 12, 32, kernel[float32]{tile: tileFloat32AVX512}}
		i := shape[int32]{AVX512, 12, 32, kernel[int32]{tile: tilePairsAVX512}}
		if !cpu.X86.HasAVX512VNNI {
			return newKernels(f, i)
		}
		i.kernel.tile = tilePairsVNNIAVX512
		k := newKernels(f, i)
		i.kernel = kernel[int32]{tile: tileQuadsAVX512, bias: offsetBiasAVX512}
		k.Int8 = newPath(i, "uint8x4", asOffsetQuads, asQuads)
		return k
	}
	return genericKernels()
}
