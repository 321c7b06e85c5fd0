package gemm

import "fmt"

// For returns the table of isa, nil where this machine cannot run it.
func For(isa ISA) *Kernels {
	if len(isa.Missing()) > 0 {
		return nil
	}
	return table(isa)
}

// A shape is a register tile and its kernel.
type shape[C Sum] struct {
	isa    ISA
	mr, nr int
	kernel kernel[C]
}

func genericKernels() *Kernels {
	return newKernels(
		shape[float32]{Generic, 4, 8, kernel[float32]{tile: tileFloat32(4, 8)}},
		shape[int32]{Generic, 4, 8, kernel[int32]{tile: tilePairs(4, 8)}})
}

// newKernels is the table of a float32 tile and of one for pairs of int16.
func newKernels(f shape[float32], pairs shape[int32]) *Kernels {
	int8s := newPath(pairs, "int16x2", asPairs, asPairs)
	return &Kernels{
		ISA:       f.isa,
		Float32:   newPath(f, "float32", asFloat32, asFloat32),
		BFloat16:  newPath(f, "float32", asBFloat16, asBFloat16),
		Int8:      int8s,
		WideInt8:  int8s,
		WideUint8: newPath(pairs, "int16x2", asPairsU, asPairsU),
	}
}

func newPath[S Source, C Sum](s shape[C], format string, a, b encoding[S]) *Path[S, C] {
	return &Path[S, C]{
		Name:   fmt.Sprintf("%v %dx%d %s", s.isa, s.mr, s.nr, format),
		Format: format, MR: s.mr, NR: s.nr, KU: a.ku,
		kernel: s.kernel, cuts: hostCuts(), packA: packGo(s.mr, a), packB: packGo(s.nr, b),
	}
}
