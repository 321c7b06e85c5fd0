package epilogue

import (
	"math"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/rows"
)

// TestPiecewise compares with float64 all over the range of the tables and beyond: to two roundings
// of float32, and where Φ is small to six.
func TestPiecewise(t *testing.T) {
	loops := rows.For(gemm.Detect().Has(gemm.AVX2), gemm.Detect().Has(gemm.AVX512))
	for name, c := range map[string]struct {
		table *rows.Cubics
		f     func(float64) float64
		bends float64 // below it six roundings
	}{
		"normal CDF": {normalCDF(), func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }, -8},
		"logistic":   {logistic(), func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, math.Inf(-1)},
	} {
		const n = 400_000
		var xs []float32
		for i := range n {
			xs = append(xs, float32((float64(i)/n-0.75)*140))
		}
		inf := float32(math.Inf(1))
		xs = append(xs, 0, 1e-30, -1e-30, 1e-7, -1e-7, 0x1p-10, -0x1p-10, inf, -inf, 88, -88, -100, 1e30, -1e30)
		got := make([]float32, len(xs))
		loops.Cubics(got, xs, c.table)
		for i, x := range xs {
			want, roundings := c.f(float64(x)), 2.
			if float64(x) < c.bends {
				roundings = 6
			}
			if !(math.Abs(float64(got[i])-want) <= roundings*0x1p-24*want+0x1p-149) {
				t.Fatalf("%s(%v) is %v, should be %v", name, x, got[i], want)
			}
		}
	}
}
