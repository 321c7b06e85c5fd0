package gemm

import (
	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/probe"
)

const neonMR, neonNR = 12, 8

// Every arm64 that Go runs on has NEON.
func init() { targets[NEON] = target{kernels: neonKernels} }

func neonKernels(host probe.HostInfo) *Kernels {
	k := genericKernels(host)
	k.ISA, k.Strided = NEON, Strided{neonMR, neonNR, stridedFloat32NEON, stridedRowFloat32NEON}
	f := shape[float32]{NEON, neonMR, neonNR, kernel[float32]{tile: tileFloat32OnNEON}}
	k.Float32 = newPath(host, f, formatFloat32, pack.InGo(pack.AsFloat32, f.mr, f.nr))
	k.WideBFloat16 = newPath(host, f, formatFloat32, pack.InGo(pack.AsBFloat16, f.mr, f.nr))
	k.BFloat16 = k.WideBFloat16
	if cpu.ARM64.HasASIMDDP {
		i := shape[int32]{NEON, neonMR, neonNR, kernel[int32]{tile: tileQuadsOnNEON}}
		k.Int8 = newPath(host, i, formatSignedQuads, pack.InGo(pack.AsQuads, i.mr, i.nr))
	}
	return k
}
