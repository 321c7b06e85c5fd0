package gemm

import (
	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/probe"
)

const neonMR, neonNR = 12, 8

// Every arm64 that Go runs on has NEON.
func init() { targets[NEON] = target{kernels: neonKernels} }

func neonKernels(host probe.HostInfo) *Kernels {
	k := genericKernels(host)
	k.ISA = NEON
	f := shape[float32]{NEON, neonMR, neonNR, kernel[float32]{tile: tileFloat32OnNEON}}
	k.Float32 = genericPath(host, f, formatFloat32, asFloat32)
	k.WideBFloat16 = genericPath(host, f, formatFloat32, asBFloat16)
	k.BFloat16 = k.WideBFloat16
	if cpu.ARM64.HasASIMDDP {
		i := shape[int32]{NEON, neonMR, neonNR, kernel[int32]{tile: tileQuadsOnNEON}}
		k.Int8 = genericPath(host, i, formatSignedQuads, asQuads)
	}
	return k
}
