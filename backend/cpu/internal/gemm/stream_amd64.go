package gemm

import "unsafe"

// The streams below are written by asmgen. Each equals the loop at type stream.
// Machines with wider vectors use them as well: it is memory that they wait for.

//go:noescape
func streamFloat32AVX2(c *float32, a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr, accumulate bool)

//go:noescape
func streamBFloat16AVX2(c *float32, a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr, accumulate bool)

//go:noescape
func streamPairsAVX2(c *int32, a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr, accumulate bool)
