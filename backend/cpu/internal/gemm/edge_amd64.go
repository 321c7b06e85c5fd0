package gemm

// The edges below are written by asmgen. Each equals the loop at type edge. Where there
// are few columns, sums are kept in parts like those of tiles, but that the last step is
// not part of a turn.

//go:noescape
func edgeFloat32AVX2(c *float32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)

//go:noescape
func edgePairsAVX2(c *int32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)

//go:noescape
func edgeFloat32AVX512(c *float32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)

//go:noescape
func edgeBFloat16AVX512(c *float32, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool)
