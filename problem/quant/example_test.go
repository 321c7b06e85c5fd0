package quant_test

import (
	"fmt"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/problem/quant/quanttest"
	"matladder/tile"
)

// A scale for each column loses less than one for all where columns differ in size.
func Example() {
	const rows, cols = 4, 2
	x := tile.NewTensor(tile.Float32, rows, cols)
	want := []float64{1.5, 0.01, -0.7, 0.02, 0.3, -0.04, 1, 0.03}
	for i, v := range want {
		x.Set(i, v)
	}
	for _, grain := range []problem.Grain{problem.Tensor, problem.Channel} {
		m, err := quanttest.Quantize(x, tile.Int8, quant.Grouping{Grain: grain})
		if err != nil {
			fmt.Println(err)
			return
		}
		got := make([]float64, rows*cols)
		for i := range got {
			got[i] = m.At(i/cols, i%cols)
		}
		fmt.Printf("%d scale(s): codes %v, %.1f dB\n", m.Scales.Len(), m.Codes.Int8s(), quanttest.Measure(got, want).SNRdB)
	}
	// Output:
	// 1 scale(s): codes [127 1 -59 2 25 -3 85 3], 45.2 dB
	// 2 scale(s): codes [127 32 -59 64 25 -127 85 95], 49.0 dB
}
