package gemm

import "math"

// The twins of what is in assembly for tiles.

// tilesTwin returns the loop at type strip with step as what one step adds to
// a sum, given the words of a row of a and those of a column of b.
func tilesTwin[C Sum](step func(s C, a, b *[tilesWords]uint32) C) strips[C] {
	return func(x *strip[C]) {
		for i := range x.rows {
			panel, row := i/tilesMR, i%tilesMR
			for j := range x.cols {
				var s C
				if x.accumulate {
					at := (panel+1)/2*x.sumPanel + panel/2*x.sumAfter
					s = *offset(x.sum, at+row*x.sumRow+j*wordBytes)
				}
				for l := range x.steps {
					var column [tilesWords]uint32
					for w := range column {
						column[w] = *offset(x.b, ((l*tilesWords+w)*tilesNR+j)*wordBytes)
					}
					words := offset(x.a, panel*x.panelA+row*x.rowA+l*x.stepA)
					s = step(s, (*[tilesWords]uint32)(span(words, tilesWords)), &column)
				}
				*offset(x.c, panel*x.panel+row*x.row+j*wordBytes) = s
			}
		}
	}
}

// stepBFloat16 models TDPBF16PS as Intel's manual writes it (SDM 2, under the
// name): products of the lower and of the upper halves are summed apart, from
// zero, each sum rounded once to nearest even, denormal numbers counting as
// zero wherever they come up; then both are added, and then to s.
func stepBFloat16(s float32, a, b *[tilesWords]uint32) float32 {
	const upper = 0xffff << 16
	var even, odd float32
	for w := range a {
		even = addProduct(even, a[w]<<16, b[w]<<16)
		odd = addProduct(odd, a[w]&upper, b[w]&upper)
	}
	return flush(flush(s) + flush(even+odd))
}

// stepInt8 is TDPBSSD: quads of signed bytes, exact modulo 2^32.
func stepInt8(s int32, a, b *[tilesWords]uint32) int32 {
	for w := range a {
		for u := 0; u < 32; u += 8 {
			s += int32(int8(a[w]>>u)) * int32(int8(b[w]>>u))
		}
	}
	return s
}

// addProduct adds the product of two float32 of at most eight significant bits. Such a product is
// exact in float32 unless it leaves the range; then float64 holds what counts of the sum.
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
