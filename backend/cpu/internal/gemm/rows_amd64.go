package gemm

// The routines below are written by asmgen. Each is of type rowsTile or rowsColumn, and
// equals the tile or column of its name.

//go:noescape
func rowsFloat32AVX2(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func rowsFloat32AVX512(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func rowsBFloat16AVX512(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func columnRowsFloat32AVX2(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next, end uintptr, panels int, accumulate bool)

//go:noescape
func columnRowsFloat32AVX512(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next, end uintptr, panels int, accumulate bool)

//go:noescape
func columnRowsBFloat16AVX512(c *float32, ldc, steps int, a *uint32, lda int, b *uint32, next, end uintptr, panels int, accumulate bool)
