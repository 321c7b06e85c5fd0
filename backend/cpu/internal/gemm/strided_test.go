package gemm

import "testing"

// TestStrided holds each way against sums in float64, of shapes with and without whole tiles.
func TestStrided(t *testing.T) {
	for _, isa := range Supported() {
		x := For(isa).Strided
		for read := ReadLoops; read <= ReadRegisters; read++ {
			if !x.CanRead(read) {
				continue
			}
			for _, s := range [][3]int{{1, 1, 1}, {12, 5, 32}, {29, 37, 75}, {13, 0, 40}, {24, 64, 64}} {
				m, k, n := s[0], s[1], s[2]
				lda, ldb, ldc := k+3, n+1, n+2
				a, b, c := make([]float32, m*lda), make([]float32, k*ldb), make([]float32, m*ldc)
				for i := range a {
					a[i] = float32(i*7%23) - 11
				}
				for i := range b {
					b[i] = float32(i*5%19) - 9
				}
				for _, accumulate := range []bool{false, true} {
					for i := range c {
						c[i] = 3
					}
					x.Multiply(read, c, ldc, m, n, k, a, lda, b, ldb, accumulate)
					for i := range c {
						row, col, want := i/ldc, i%ldc, 3.0
						if col < n {
							if !accumulate {
								want = 0
							}
							for l := range k {
								want += float64(a[row*lda+l]) * float64(b[l*ldb+col])
							}
						}
						if float64(c[i]) != want { // all are whole numbers below 2^24
							t.Fatalf("%v, way %d, %v, accumulate %v: c[%d, %d] = %v, want %v", isa, read, s, accumulate, row, col, c[i], want)
						}
					}
				}
			}
		}
	}
}
