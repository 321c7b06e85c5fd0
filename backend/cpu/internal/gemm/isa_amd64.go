package gemm

import (
	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/amx"
)

// missing asks the feature bits, which x/sys/cpu clears where the operating
// system does not save the registers; for AMX also what package amx asks, and
// the products themselves.
func missing(i ISA) []string {
	var absent []string
	need := func(has bool, name string) {
		if !has {
			absent = append(absent, name)
		}
	}
	switch i {
	case NEON:
		absent = []string{"arm64"}
	case AMX:
		absent = append(missing(AVX512), amx.Missing()...)
		if len(absent) == 0 {
			absent = tilesWrong()
		}
	case AVX2:
		need(cpu.X86.HasAVX2, "avx2")
		need(cpu.X86.HasFMA, "fma")
	case AVX512:
		need(cpu.X86.HasAVX512F, "avx512f")
		need(cpu.X86.HasAVX512BW, "avx512bw")
		need(cpu.X86.HasAVX512DQ, "avx512dq")
		need(cpu.X86.HasAVX512VL, "avx512vl")
		need(cpu.X86.HasBMI2, "bmi2")
	}
	return absent
}
