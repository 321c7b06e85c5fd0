package gemm

import "unsafe"

// The tiles of this file are the twins of those in assembly and the kernels
// of machines without one. mr is even, nr a multiple of four: eight sums at a
// time are what the registers of amd64 hold.

// tileFloat32 returns the twin of the float32 tiles.
func tileFloat32(mr, nr int) tile[float32] {
	return func(c *float32, ldc, steps int, a, b *uint32, bias *float32, _ uintptr, rows, cols int, accumulate bool) {
		av := span((*float32)(unsafe.Pointer(a)), steps*mr)
		bv := span((*float32)(unsafe.Pointer(b)), steps*nr)
		for i := 0; i < rows; i += 2 {
			for j := 0; j < cols; j += 4 {
				s := start(bias, i)
				s00, s01, s02, s03, s10, s11, s12, s13 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
				for l := range steps {
					x, y := av[l*mr+i:l*mr+i+2], bv[l*nr+j:l*nr+j+4]
					s00 += x[0] * y[0]
					s01 += x[0] * y[1]
					s02 += x[0] * y[2]
					s03 += x[0] * y[3]
					s10 += x[1] * y[0]
					s11 += x[1] * y[1]
					s12 += x[1] * y[2]
					s13 += x[1] * y[3]
				}
				s = [8]float32{s00, s01, s02, s03, s10, s11, s12, s13}
				store(c, ldc, &s, i, j, rows, cols, accumulate)
			}
		}
	}
}

// tilePairs returns the twin of the tiles on pairs of int16.
func tilePairs(mr, nr int) tile[int32] {
	return func(c *int32, ldc, steps int, a, b *uint32, bias *int32, _ uintptr, rows, cols int, accumulate bool) {
		av, bv := span(a, steps*mr), span(b, steps*nr)
		for i := 0; i < rows; i += 2 {
			for j := 0; j < cols; j += 4 {
				s := start(bias, i)
				for l := range steps {
					x, y := av[l*mr+i:l*mr+i+2], bv[l*nr+j:l*nr+j+4]
					x0, x1 := int32(int16(x[0])), int32(x[0])>>16
					x2, x3 := int32(int16(x[1])), int32(x[1])>>16
					for q := range 4 {
						y0, y1 := int32(int16(y[q])), int32(y[q])>>16
						s[q] += x0*y0 + x1*y1
						s[q+4] += x2*y0 + x3*y1
					}
				}
				store(c, ldc, &s, i, j, rows, cols, accumulate)
			}
		}
	}
}

// start is what two rows of four sums begin with at row i.
func start[C Sum](bias *C, i int) (s [8]C) {
	if bias != nil {
		for q := range s {
			s[q] = span(bias, i+2)[i+q/4]
		}
	}
	return s
}

// store writes those of 2×4 sums at row i, column j that lie inside the corner.
func store[C Sum](c *C, ldc int, s *[8]C, i, j, rows, cols int, accumulate bool) {
	cv := span(c, (rows-1)*ldc+cols)
	for r := range min(2, rows-i) {
		for q := range min(4, cols-j) {
			at := &cv[(i+r)*ldc+j+q]
			if accumulate {
				s[4*r+q] += *at
			}
			*at = s[4*r+q]
		}
	}
}
