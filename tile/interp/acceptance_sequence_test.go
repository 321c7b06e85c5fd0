package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// dynamicQuant multiplies float32 rows by int8 weights in two programs: the
// first quantizes each row by its largest absolute value, the second multiplies
// integers and scales the sums. q and row_scale only pass between them.
type dynamicQuant struct{ m, k, n, bm, bk, bn int }

func (c dynamicQuant) programs() ([]*tile.Program, error) {
	return tiletest.DynamicQuant(c.m, c.k, c.n, tile.Blocks{M: c.bm, K: c.bk, N: c.bn})
}

func TestDynamicQuant(t *testing.T) {
	for _, c := range []dynamicQuant{{9, 70, 14, 4, 32, 8}, {1, 64, 3, 1, 32, 2}, {16, 7, 5, 8, 8, 5}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.programs())
			bindings, err := tile.Bind(programs)
			if err != nil {
				t.Fatal(err)
			}
			if len(bindings.In) != 3 || len(bindings.Out) != 1 || len(bindings.Temp) != 2 {
				t.Fatalf("%d inputs, %d outputs, %d temporaries", len(bindings.In), len(bindings.Out), len(bindings.Temp))
			}
			in := inputs(t, programs)
			x, w, colScale := in[0], in[1], in[2]
			o := run(t, programs, in...)[0]
			for i := range c.m {
				var largest float64
				for l := range c.k {
					largest = math.Max(largest, math.Abs(element(x, i, l)))
				}
				scale := float64(float32(largest / 127))
				for j := range c.n {
					var exact, quantized, weights float64
					for l := range c.k {
						exact += element(x, i, l) * element(w, l, j)
						quantized += math.RoundToEven(element(x, i, l)/scale) * element(w, l, j)
						weights += math.Abs(element(w, l, j))
					}
					col := element(colScale, 0, j)
					got := element(o, i, j)
					near(t, got, quantized*scale*col, epsFloat32*math.Abs(got), i, j)
					// Quantization moves each x by half a step at most.
					near(t, got, exact*col, 1.01*weights*scale/2*math.Abs(col), i, j)
				}
			}
		})
	}
}
