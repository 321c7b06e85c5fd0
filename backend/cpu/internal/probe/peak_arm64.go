package probe

import "golang.org/x/sys/cpu"

// Each of these runs 24 independent multiply-adds on registers a turn; they are written
// by package asmgen beside package gemm.

//go:noescape
func peakFloat32NEON(turns int)

//go:noescape
func peakQuadsNEON(turns int)

func loops(isa, dtype string) []loop {
	const ops = 24 * 4 * 2 // a turn, of one element in each 32 bits
	switch {
	case isa == "generic":
		return genericLoops(dtype)
	case isa != "neon":
		return nil
	case dtype == "float32" || dtype == "bfloat16":
		return []loop{{peakFloat32NEON, ops}}
	case dtype == "int8" && cpu.ARM64.HasASIMDDP:
		return []loop{{peakQuadsNEON, 4 * ops}}
	}
	return genericLoops(dtype)
}
