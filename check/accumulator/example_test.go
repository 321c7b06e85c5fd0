package accumulator_test

import (
	"fmt"

	"matladder/check/accumulator"
	"matladder/problem"
	"matladder/tile"
)

// Even and odd products of a dot product are summed apart, in float32.
func ExampleFind() {
	p := problem.New(1, 8, 4, tile.Float32)
	found, err := accumulator.Find(p, func(a, b []float64) ([]float64, error) {
		o := make([]float64, p.N)
		for j := range o {
			var sum [2]float32
			for k := range p.K {
				sum[k%2] += float32(a[k]) * float32(b[k*p.N+j])
			}
			o[j] = float64(sum[0] + sum[1])
		}
		return o, nil
	})
	fmt.Println(found.Bits, found.Rounding, err)
	fmt.Println(found.Tree)
	// Output:
	// 24 nearest even <nil>
	// ((((0+2)+4)+6)+(((1+3)+5)+7))
}
