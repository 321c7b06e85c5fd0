package gemm

// The routines below are written by asmgen. Each equals the loop at type edge. Float
// sums of a single column are those of even steps and those of odd ones but the last,
// which is added to the former before the latter.

//go:noescape
func edgeFloat32AVX2(c *float32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)

//go:noescape
func edgePairsAVX2(c *int32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)
