package problemtest

import (
	"fmt"
	"math"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// Norms computes norms of rows from the smallest numbers to the largest whose squares have a
// sum, and compares with float64.
func Norms(t *testing.T, run Machine) {
	const cols, u = 48, 0x1p-24
	sizes := []float64{0x1p-100, 0x1p-70, 0x1p-40, 1, 0x1p40, 0x1p63 / 7} // 7 is more than √cols
	x := tile.NewTensor(tile.Float32, len(sizes), cols)
	for i := range x.Len() {
		x.Set(i, sizes[i/cols]*math.Cos(float64(i*i)))
	}
	w, b := tile.NewTensor(tile.Float32, 1, cols), tile.NewTensor(tile.Float32, 1, cols)
	for j := range cols {
		w.Set(j, 1+float64(j)/64)
	}
	for _, k := range kernels.Ladder(problem.NormFamily) {
		for _, p := range []problem.Norm{{}, {RMS: true}, {RMS: true, Epsilon: 1e-30}} {
			p.Rows, p.Cols, p.X, p.Out = len(sizes), cols, tile.Float32, tile.Float32
			if k.Supports(p) != nil {
				continue
			}
			t.Run(fmt.Sprint(k.Name(), " ", p.Asked().Options), func(t *testing.T) {
				programs, err := k.Build(p, "", tile.Blocks{M: 8})
				if err != nil {
					t.Fatal(err)
				}
				o := run(programs, inputs(t, programs, map[string]tile.Tensor{"x": x, "w": w, "b": b}))["o"]
				for i := range sizes {
					mean, square := 0., 0.
					for j := range cols {
						mean += x.At(i*cols+j) / cols
					}
					if p.RMS {
						mean = 0
					}
					for j := range cols {
						square += math.Pow(x.At(i*cols+j)-mean, 2) / cols
					}
					for j := range cols {
						want := (x.At(i*cols+j) - mean) / math.Sqrt(square+p.Eps()) * w.At(j)
						if got := o.At(i*cols + j); !(math.Abs(got-want) <= 64*u*(1+math.Abs(want))*min(1, sizes[i]/math.Sqrt(p.Eps()))+0x1p-126) {
							t.Fatalf("o of a row of numbers up to %.3g: element %d is %v, should be %v", sizes[i], j, got, want)
						}
					}
				}
			})
		}
	}
}
