package gemm

import (
	"fmt"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/probe"
)

// For returns the table of isa, nil where this machine cannot run it.
func For(isa ISA) *Kernels {
	if len(isa.Missing()) > 0 {
		return nil
	}
	k := targets[isa].kernels(probe.Host())
	if k.ThinBFloat16 == nil {
		k.ThinBFloat16, k.ThinInt8 = k.BFloat16, k.Int8
	}
	return k
}

// A shape is a register tile and its kernel.
type shape[C Sum] struct {
	isa    ISA
	mr, nr int
	kernel kernel[C]
}

func newPath[S Source, C Sum](host probe.HostInfo, s shape[C], format string, sides pack.Sides[S]) *MicroKernels[S, C] {
	return &MicroKernels[S, C]{
		Name:   fmt.Sprintf("%v %dx%d %s", s.isa, s.mr, s.nr, format),
		Format: format, MR: s.mr, NR: s.nr, KU: sides.KU, Words: 1,
		kernel: s.kernel, host: host, blocking: hostBlocking(host), packA: sides.A, packB: sides.B,
	}
}

// Formats of packed panels: the type of the elements in a word.
const (
	formatFloat32  = "float32"
	formatBFloat16 = "bfloat16x2"
	formatPairs    = "int16x2"
	formatQuads    = "uint8x4"

	formatSignedQuads = "int8x4"

	formatBFloat16Tiles = "bfloat16 tiles"
	formatInt8Tiles     = "int8 tiles"
)

func genericKernels(host probe.HostInfo) *Kernels {
	f := shape[float32]{Generic, 4, 8, kernel[float32]{tile: tileFloat32(4, 8)}}
	i := shape[int32]{Generic, 4, 8, kernel[int32]{tile: tilePairs(4, 8)}}
	k := &Kernels{
		ISA:          Generic,
		Float32:      newPath(host, f, formatFloat32, pack.InGo(pack.AsFloat32, f.mr, f.nr)),
		WideBFloat16: newPath(host, f, formatFloat32, pack.InGo(pack.AsBFloat16, f.mr, f.nr)),
		WideInt8:     newPath(host, i, formatPairs, pack.InGo(pack.AsPairs, i.mr, i.nr)),
		WideUint8:    newPath(host, i, formatPairs, pack.InGo(pack.AsPairsU, i.mr, i.nr)),
	}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	return k
}
