package gemm

import "math"

// tileBFloat16 returns the twin of the tile on pairs of bfloat16. It models
// VDPBF16PS to the bit, for finite numbers.
func tileBFloat16(mr, nr int) tile[float32] { return tileOfWords(mr, nr, addPair) }

// addPair adds the products of two pairs of bfloat16, first that of the upper
// halves, each product exact and each sum rounded to nearest even. Denormal
// numbers count as zero wherever they come up.
func addPair(s float32, a, b uint32) float32 {
	const upper = 0xffff << 16
	s = addProduct(flush(s), a&upper, b&upper)
	return addProduct(s, a<<16, b<<16)
}

// addProduct adds the product of two float32 of at most eight significant
// bits. Such a product is exact in float32 unless it leaves the range; then
// float64 holds what counts of the sum.
func addProduct(s float32, x, y uint32) float32 {
	p := float64(flush(math.Float32frombits(x))) * float64(flush(math.Float32frombits(y)))
	if size := math.Abs(p); size == 0 || size >= leastNormal && size <= math.MaxFloat32 {
		return flush(s + float32(p))
	}
	return flush(float32(float64(s) + p))
}

const leastNormal = 0x1p-126

// flush turns denormal numbers into zero of the same sign.
func flush(v float32) float32 {
	if v > -leastNormal && v < leastNormal {
		return v * 0
	}
	return v
}
