package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/probe"
)

// inPlaceAVX2 adds what multiplies by a b of other elements where it lies.
func (k *Kernels) inPlaceAVX2() {
	floats := func(name string, bits, pays int, tile inPlace[float32]) *InPlace[float32] {
		return &InPlace[float32]{Name: name, Pays: pays, Whole: max(1, 8/bits), bits: bits, ku: 1, mr: k.Float32.MR, tile: tile}
	}
	ints := func(name string, bits, pays int, tile inPlace[int32]) *InPlace[int32] {
		return &InPlace[int32]{Name: name, Pays: pays, Whole: max(1, 8/bits), bits: bits, ku: 2, mr: k.WideInt8.MR, tile: tile}
	}
	k.Float32.Stored = Stored[float32]{
		Int4: floats("int4", 4, 24, inPlaceInt4AVX2),
		Int8: floats("int8", 8, 24, inPlaceInt8AVX2),
	}
	if probe.HasHalves() {
		k.Float32.Stored.Float8E4M3 = floats("float8_e4m3fn", 8, 8, inPlaceFloat8E4M3AVX2)
		k.Float32.Stored.Float8E5M2 = floats("float8_e5m2", 8, 12, inPlaceFloat8E5M2AVX2)
	}
	k.WideBFloat16.Stored = k.Float32.Stored
	k.WideInt8.Stored.Int4 = ints("int4", 4, 16, inPlacePairsInt4AVX2)
}

// The tiles below are written by asmgen. Each equals the loop at type inPlace for
// the elements and sums of its name, with panels of six rows.

//go:noescape
func inPlaceInt8AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)

//go:noescape
func inPlaceInt4AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)

//go:noescape
func inPlaceFloat8E4M3AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)

//go:noescape
func inPlaceFloat8E5M2AVX2(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)

//go:noescape
func inPlacePairsInt4AVX2(c *int32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, accumulate bool)
