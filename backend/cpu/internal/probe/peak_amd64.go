package probe

import "golang.org/x/sys/cpu"

// Each of these runs 24 (AVX-512) or 12 (AVX2) independent multiply-adds on
// registers a turn; they are written by package asmgen beside package gemm.

//go:noescape
func peakFloat32AVX2(turns int)

//go:noescape
func peakPairsAVX2(turns int)

//go:noescape
func peakQuadsAVX2(turns int)

//go:noescape
func peakFloat32AVX512(turns int)

//go:noescape
func peakBFloat16AVX512(turns int)

//go:noescape
func peakPairsAVX512(turns int)

//go:noescape
func peakQuadsAVX512(turns int)

func loops(isa, dtype string) []loop {
	const (
		ymm = 12 * 8 * 2 // operations a turn with one element in each 32 bits
		zmm = 24 * 16 * 2
	)
	x := &cpu.X86
	switch {
	case isa == "generic":
		return genericLoops(dtype)
	case isa == "avx2" && x.HasAVX2 && x.HasFMA:
		switch dtype {
		case "float32", "bfloat16":
			return []loop{{peakFloat32AVX2, ymm}}
		case "int8":
			l := []loop{{peakPairsAVX2, 2 * ymm}}
			if x.HasAVXVNNI {
				l = append(l, loop{peakQuadsAVX2, 4 * ymm})
			}
			return l
		}
	case isa == "amx":
		if l := tileLoops(dtype); l != nil {
			return append(loops("avx512", dtype), l...)
		}
	case isa == "avx512" && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		var l []loop
		switch dtype {
		case "float32":
			l = append(l, loop{peakFloat32AVX512, zmm})
		case "bfloat16":
			l = append(l, loop{peakFloat32AVX512, zmm})
			if x.HasAVX512BF16 {
				l = append(l, loop{peakBFloat16AVX512, 2 * zmm})
			}
		case "int8":
			l = append(l, loop{peakPairsAVX512, 2 * zmm})
			if x.HasAVX512VNNI {
				l = append(l, loop{peakQuadsAVX512, 4 * zmm})
			}
		}
		return l
	}
	return nil
}
