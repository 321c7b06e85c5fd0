package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestBlock_Float32(t *testing.T) {
	for _, isa := range Supported() {
		p := For(isa).Float32
		for _, s := range [][3]int{{1, 1, 1}, {5, 7, 3}, {33, 65, 17}, {64, 64, 1100}} {
			m, n, k := s[0], s[1], s[2]
			t.Run(fmt.Sprint(isa, s), func(t *testing.T) {
				a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
				for i := range a {
					a[i] = float32(rand.IntN(9) - 4)
				}
				for i := range b {
					b[i] = float32(rand.IntN(9) - 4)
				}
				pa, pb := Buffer(p.SizeA(m, k)), Buffer(p.SizeB(k, n))
				p.PackA(pa, a, k, m, k)
				p.PackB(pb, b, n, k, n)
				p.Block(c, n, m, n, k, pa, pb, false)
				for i := range m {
					for j := range n {
						var want float64
						for l := range k {
							want += float64(a[i*k+l]) * float64(b[l*n+j])
						}
						if got := float64(c[i*n+j]); math.Abs(got-want) > 0 {
							t.Fatalf("c[%d,%d] = %v, want %v", i, j, got, want)
						}
					}
				}
			})
		}
	}
}
