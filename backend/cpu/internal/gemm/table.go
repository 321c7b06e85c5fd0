package gemm

// For returns the table of isa, nil where this machine cannot run it.
func For(isa ISA) *Kernels {
	if len(isa.Missing()) > 0 {
		return nil
	}
	return table(isa)
}

func genericTable(isa ISA) *Kernels {
	const mr, nr = 4, 16
	f := kernel[float32]{tile: tileGo(mr, nr, dotFloat32)}
	i := kernel[int32]{tile: tileGo(mr, nr, dotPairs)}
	k := &Kernels{ISA: isa}
	k.Float32 = path(isa, "float32", mr, nr, f, asFloat32)
	k.BFloat16 = path(isa, "float32", mr, nr, f, asBFloat16)
	k.Int8 = path(isa, "int16x2", mr, nr, i, asPairs)
	k.WideInt8 = k.Int8
	k.WideUint8 = path(isa, "int16x2", mr, nr, i, asPairsU)
	return k
}

func path[S Source, C Sum](isa ISA, format string, mr, nr int, k kernel[C], e encoding[S]) *Path[S, C] {
	return &Path[S, C]{
		Name: isa.String(), Format: format, MR: mr, NR: nr, KU: e.ku,
		kernel: k, packA: packGo(mr, e), packB: packGo(nr, e),
	}
}

func table(isa ISA) *Kernels { return genericTable(isa) }
