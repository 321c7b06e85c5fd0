package gemm

import (
	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/amx"
)

// x/sys/cpu clears the features of which the operating system does not save the registers.
func init() {
	x := &cpu.X86
	avx512 := []feature{{x.HasAVX512F, "avx512f"}, {x.HasAVX512BW, "avx512bw"}, {x.HasAVX512DQ, "avx512dq"}, {x.HasAVX512VL, "avx512vl"}, {x.HasBMI2, "bmi2"}}
	targets[AVX2] = target{[]feature{{x.HasAVX2, "avx2"}, {x.HasFMA, "fma"}}, nil, avx2Kernels}
	targets[AVX512] = target{avx512, nil, avx512Kernels}
	targets[AMX] = target{avx512, func(absent []string) []string {
		if absent = append(absent, amx.Missing()...); len(absent) == 0 {
			absent = tilesWrong()
		}
		return absent
	}, amxKernels}
}
