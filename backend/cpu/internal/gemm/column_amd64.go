package gemm

// The columns below are written by asmgen. Each equals the loop at type column, with
// tiles of its name.

//go:noescape
func columnFloat32AVX2(c *float32, ldc, steps int, a, b *uint32, bias *float32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnPairsAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnPairsVNNIAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnQuadsAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnFloat32AVX512(c *float32, ldc, steps int, a, b *uint32, bias *float32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnBFloat16AVX512(c *float32, ldc, steps int, a, b *uint32, bias *float32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnPairsAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnPairsVNNIAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)

//go:noescape
func columnQuadsAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next, end uintptr, panels, panel int, accumulate bool)
