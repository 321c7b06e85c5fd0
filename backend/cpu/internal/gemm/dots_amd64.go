package gemm

import "unsafe"

// The routines below are written by asmgen. Each equals the loop at type dots.

//go:noescape
func dotsFloat32AVX2(c *float32, ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int, accumulate bool)

//go:noescape
func dotsFloat32AVX512(c *float32, ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int, accumulate bool)

//go:noescape
func dotsBFloat16AVX512(c *float32, ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int, accumulate bool)
