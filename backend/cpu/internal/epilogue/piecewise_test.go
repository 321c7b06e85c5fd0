package epilogue

import (
	"math"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/rows"
)

// TestPiecewise compares with package math, all over the range of the tables and
// beyond: to an ulp of float32 of the value, or of 1 for erf.
func TestPiecewise(t *testing.T) {
	loops := rows.For(gemm.Detect().Has(gemm.AVX2), gemm.Detect().Has(gemm.AVX512))
	for name, c := range map[string]struct {
		table    *piecewise
		f        func(float64) float64
		absolute float64
	}{
		"erf":      {erf(), math.Erf, 0x1p-24},
		"logistic": {logistic(), func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 0},
	} {
		to := c.table.to(&loops)
		const n = 400_000
		var xs []float32
		for i := range n {
			xs = append(xs, float32((float64(i)/n-0.5)*90))
		}
		inf := float32(math.Inf(1))
		few := []float32{0, 1e-30, -1e-30, 1e-7, -1e-7, 0x1p-10, -0x1p-10, inf, -inf, 88, -88, -100, 1e30}
		xs = append(xs, few...)
		got := make([]float32, len(xs))
		to(got, xs)
		for i, x := range xs {
			want := c.f(float64(x))
			limit := 0x1p-23*math.Abs(want) + 0x1p-149
			if i < n {
				limit += c.absolute
			}
			if !(math.Abs(float64(got[i])-want) <= limit) {
				t.Fatalf("%s(%v) is %v, should be %v", name, x, got[i], want)
			}
		}
		o := []float32{0}
		if to(o, []float32{float32(math.NaN())}); o[0] == o[0] {
			t.Errorf("%s(NaN) is %v", name, o[0])
		}
	}
}
