package gemm

import "unsafe"

// The tiles of this file are written by asmgen. Each equals the loop at type
// direct.

// The tiles below are 12×32.

//go:noescape
func directFloat32AVX512(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

//go:noescape
func directWideBFloat16AVX512(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

//go:noescape
func directBFloat16AVX512(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

// directQuadsAVX512 starts from offsetBias of b, and takes eight rows at most.
//
//go:noescape
func directQuadsAVX512(c *int32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

// The tiles below are 6×16, and read all columns of b, whatever cols is.

//go:noescape
func directFloat32AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

//go:noescape
func directWideBFloat16AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)

//go:noescape
func directPairsAVX2(c *int32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, accumulate bool)
