package norm_test

import (
	"math"
	"testing"

	rows "matladder/kernels/norm/v2_rows"
	sums "matladder/kernels/norm/v3_sums"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestFarFromZero: rows that lie many standard deviations from zero lose no digits to the
// one pass of v3 that the two passes of v2 keep.
func TestFarFromZero(t *testing.T) {
	p := problem.Norm{Rows: 4, Cols: 700, X: tile.Float32, Out: tile.Float32}
	x := tile.NewTensor(tile.Float32, p.Rows, p.Cols)
	w, b := tile.NewTensor(tile.Float32, 1, p.Cols), tile.NewTensor(tile.Float32, 1, p.Cols)
	for i := range x.Len() {
		far := []float64{0, 10, 1000, 10000}[i/p.Cols]
		x.Set(i, far+math.Sin(float64(i*i))*math.Sqrt2) // of variance 1
		w.Set(i%p.Cols, 1)
	}
	for _, k := range []problem.Rung[problem.Norm]{rows.Kernel, sums.Kernel} {
		programs, err := k.Build(p, "", tile.Blocks{M: 4})
		if err != nil {
			t.Fatal(err)
		}
		out, err := interp.Run(t.Context(), programs, []tile.Tensor{x, w, b})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Rows {
			mean, square, worst := 0.0, 0.0, 0.0
			for j := range p.Cols {
				mean += x.At(i*p.Cols+j) / float64(p.Cols)
			}
			for j := range p.Cols {
				square += math.Pow(x.At(i*p.Cols+j)-mean, 2) / float64(p.Cols)
			}
			for j := range p.Cols {
				want := (x.At(i*p.Cols+j) - mean) / math.Sqrt(square+p.Eps())
				worst = max(worst, math.Abs(out[0].At(i*p.Cols+j)-want))
			}
			if limit := 1e-6 * (1 + math.Abs(mean)/10); !(worst <= limit) { // a mean's last place is as large as it
				t.Errorf("%s, mean %.3g: off by %.2g, want at most %.2g", programs[0].Name, mean, worst, limit)
			}
		}
	}
}
