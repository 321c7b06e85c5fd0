package gemm

import "math"

// A kernel is the micro-kernel of a path and what Block must prepare for it.
type kernel[C Sum] struct {
	tile tile[C]
	// bias fills dst, NR sums, with what the tile's sums start from, given
	// steps of one panel of b; nil where they start from zero.
	bias func(dst, b *uint32, steps int)
}

// A tile computes the rows×cols corner, 1 ≤ rows ≤ MR and 1 ≤ cols ≤ NR, of
// one register tile over steps ≥ 1 steps of a panel of a and one of b:
//
//	for i := range rows {
//		for j := range cols {
//			s := bias[j] // 0 if bias is nil
//			for l := range steps {
//				s += dot(a[l*MR+i], b[l*NR+j]) // dot: the products of the elements in a word
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// While it computes it asks for the 16·steps bytes at next to be brought into
// the L2 cache; next is an address only, never read.
type tile[C Sum] func(c *C, ldc, steps int, a, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool)

// tileGo returns the twin of the tile of width mr×nr: sub-tiles of 2×4 sums,
// as many as stay in the registers of amd64.
func tileGo[C Sum](mr, nr int, dot func(s C, a, b uint32) C) tile[C] {
	return func(c *C, ldc, steps int, a, b *uint32, bias *C, _ uintptr, rows, cols int, accumulate bool) {
		av, bv := span(a, (steps-1)*mr+mr), span(b, (steps-1)*nr+nr)
		cv := span(c, (rows-1)*ldc+cols)
		for i := range rows {
			for j := range cols {
				var s C
				if bias != nil {
					s = span(bias, nr)[j]
				}
				for l := range steps {
					s = dot(s, av[l*mr+i], bv[l*nr+j])
				}
				if accumulate {
					s += cv[i*ldc+j]
				}
				cv[i*ldc+j] = s
			}
		}
	}
}

func dotFloat32(s float32, a, b uint32) float32 {
	return s + math.Float32frombits(a)*math.Float32frombits(b)
}

func dotPairs(s int32, a, b uint32) int32 {
	return s + int32(int16(a))*int32(int16(b)) + int32(a)>>16*(int32(b)>>16)
}

// dotQuads multiplies unsigned bytes of a by signed bytes of b.
func dotQuads(s int32, a, b uint32) int32 {
	for range 4 {
		s += int32(uint8(a)) * int32(int8(b))
		a, b = a>>8, b>>8
	}
	return s
}

// offsetBiasGo returns the twin of offsetBias for panels of nr columns:
//
//	for j := range nr {
//		dst[j] = -128 * sum(b[l*nr+j]) // over steps l and the signed bytes of a word
//	}
func offsetBiasGo(nr int) func(dst, b *uint32, steps int) {
	return func(dst, b *uint32, steps int) {
		d, w := span(dst, nr), span(b, steps*nr)
		for j := range nr {
			var s int32
			for l := range steps {
				s = dotQuads(s, 0x80808080, w[l*nr+j])
			}
			d[j] = uint32(-s)
		}
	}
}
