package gemm

import (
	"fmt"

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

func newPath[S Source, C Sum](host probe.HostInfo, s shape[C], format string, ku int, a, b packer[S]) *Path[S, C] {
	return &Path[S, C]{
		Name:   fmt.Sprintf("%v %dx%d %s", s.isa, s.mr, s.nr, format),
		Format: format, MR: s.mr, NR: s.nr, KU: ku, Words: 1,
		kernel: s.kernel, host: host, blocking: hostBlocking(host), packA: a, packB: b,
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
		Float32:      genericPath(host, f, formatFloat32, asFloat32),
		WideBFloat16: genericPath(host, f, formatFloat32, asBFloat16),
		WideInt8:     genericPath(host, i, formatPairs, asPairs),
		WideUint8:    genericPath(host, i, formatPairs, asPairsU),
	}
	k.BFloat16, k.Int8 = k.WideBFloat16, k.WideInt8
	return k
}

func genericPath[S Source, C Sum](host probe.HostInfo, s shape[C], format string, e encoding[S]) *Path[S, C] {
	return newPath(host, s, format, e.ku, packGo(s.mr, e), packGo(s.nr, e))
}
