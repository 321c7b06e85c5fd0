package gemm

// The tiles below are written by asmgen. Each equals the loop at type tile,
// with the dot of its name, MR×NR of its table row, and sums rounded once per
// product and addition for float32.
//
// Of AVX2, a tile of so few rows or vectors of columns that twice or four times as many
// sums fit its registers keeps each in 2 or 4 parts: of whole turns of four steps, step
// l goes to part l mod 2 or 4, and steps left over to part 0. At the end they are added,
// 0+1, or (0+2)+(1+3).

//go:noescape
func tileFloat32AVX512(c *float32, ldc, steps int, a, b *uint32, bias *float32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tileFloat32AVX2(c *float32, ldc, steps int, a, b *uint32, bias *float32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tileBFloat16AVX512(c *float32, ldc, steps int, a, b *uint32, bias *float32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tileQuadsAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tilePairsVNNIAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tilePairsAVX512(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tilePairsAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tileQuadsAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

//go:noescape
func tilePairsVNNIAVX2(c *int32, ldc, steps int, a, b *uint32, bias *int32, next uintptr, rows, cols int, accumulate bool)

// offsetBiasAVX2 is offsetBias(16).
//
//go:noescape
func offsetBiasAVX2(dst, b *uint32, steps int)

// offsetBiasAVX512 is offsetBias(32).
//
//go:noescape
func offsetBiasAVX512(dst, b *uint32, steps int)
