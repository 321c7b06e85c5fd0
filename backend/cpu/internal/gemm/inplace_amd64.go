package gemm

import (
	"math"
	"sync"
	"time"
	"unsafe"

	"matladder/backend/cpu/internal/probe"
	"matladder/internal/bfloat16"
)

// inPlaceAVX2 adds what multiplies by a b of other elements where it lies.
func (k *Kernels) inPlaceAVX2() {
	tiles := []inPlaceTiles{{1, 64}, {2, 32}, {6, 16}}
	k.Float32.InPlace = map[string]*InPlace[float32]{}
	ofFloats := func(name string, bits, pieces int, tile inPlace[float32], q quick[float32], panels func(dst *float32, panel, steps int, b unsafe.Pointer, ldb, ahead, tiles int)) {
		k.Float32.InPlace[name] = &InPlace[float32]{Name: name, Pays: 48, Whole: max(1, 8/bits), bits: bits, ku: 1, mr: k.Float32.MR, steps: inPlaceSteps, tiles: tiles, tile: tile, quick: q,
			pieces: inPlacePieces[float32]{pieces, k.Float32.NR, k.Float32.kernel.tile, panels}}
	}
	ofFloats("int4", 4, 13, inPlaceInt4AVX2, quick[float32]{inPlaceQuickInt4AVX2, 2, unlessGreat(1, 0x1p90)}, panelsInt4AVX2)
	ofFloats("int8", 8, 24, inPlaceInt8AVX2, quick[float32]{}, panelsInt8AVX2)
	if probe.HasHalves() {
		// The tiles' numbers are divided by 2^112 more than those of the others.
		var e4m3, e5m2 quick[float32]
		if denormalsAreFast() {
			words := unlessGreat(0x1p112, 0x1p16)
			e4m3, e5m2 = quick[float32]{inPlaceQuickFloat8E4M3AVX2, 6, words}, quick[float32]{inPlaceQuickFloat8E5M2AVX2, 6, words}
		}
		ofFloats("float8_e4m3fn", 8, 13, inPlaceFloat8E4M3AVX2, e4m3, panelsFloat8E4M3AVX2)
		ofFloats("float8_e5m2", 8, 13, inPlaceFloat8E5M2AVX2, e5m2, panelsFloat8E5M2AVX2)
	}
	k.WideBFloat16.InPlace = k.Float32.InPlace
	k.WideInt8.InPlace = map[string]*InPlace[int32]{"int4": {Name: "int4", Pays: 48, Whole: 2, bits: 4, ku: 2, mr: k.WideInt8.MR, steps: bytesInt4Steps,
		tiles: []inPlaceTiles{{2, 64}, {6, 32}}, quick: quick[int32]{inPlaceBytesInt4AVX2, 6, offsetPairs}}}
}

// Sums of int16 hold those of so many steps: 2·8·128·8 is less than 2^15.
const bytesInt4Steps = 8

// denormalsAreFast measures once whether multiplications by denormal numbers, which
// tiles meet where codes of float8 are denormal, take no longer than others: some
// processors take a hundred cycles for one.
var denormalsAreFast = sync.OnceValue(func() bool {
	const rows, columns = 16, 64
	var a [6 * rows]uint32
	var c [columns]float32
	var denormal, normal [rows * columns]byte
	for i := range normal {
		denormal[i], normal[i] = 1, 0x3c
	}
	for i := range a {
		a[i] = math.Float32bits(0x1p112)
	}
	best := func(b *byte) time.Duration {
		least := time.Hour
		for range 20 {
			start := time.Now()
			inPlaceQuickFloat8E5M2AVX2(&c[0], columns, rows, &a[0], unsafe.Pointer(b), columns, 0, 1, 1, false)
			least = min(least, time.Since(start))
		}
		return least
	}
	return best(&denormal[0]) < 3*best(&normal[0])
})

// inGroupsAVX512 adds what multiplies pairs of bfloat16 by a b of four bits whose groups have scales.
func (k *Kernels) inGroupsAVX512() {
	k.PairsBFloat16.InGroups = map[string]*InPlace[float32]{}
	for name, numbers := range map[string][16]float32{
		"int4":          {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1},
		"float4_e2m1fn": {0, 0.5, 1, 1.5, 2, 3, 4, 6, float32(math.Copysign(0, -1)), -0.5, -1, -1.5, -2, -3, -4, -6},
	} {
		var table [32]uint16 // twice, as five bits are looked up
		for c := range table {
			table[c] = bfloat16.Round(numbers[c%16])
		}
		k.PairsBFloat16.InGroups[name] = &InPlace[float32]{Name: name, Pays: 96, Whole: 2, bits: 4, ku: 2, mr: k.PairsBFloat16.MR, steps: inPlaceSteps,
			tiles: []inPlaceTiles{{6, 64}}, height: 6,
			grouped: func(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, scales *float32, accumulate bool) {
				inPlaceNibblesAVX512(c, ldc, steps, a, b, ldb, ahead, rows, tiles, scales, &table[0], accumulate)
			}}
	}
}
