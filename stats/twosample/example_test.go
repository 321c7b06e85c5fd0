package twosample_test

import (
	"fmt"
	"math"

	"matladder/stats/twosample"
)

// Three runs of each of two builds, whose times are the same but for a tenth.
func ExampleCompare() {
	run := func(base float64) twosample.Run {
		var times []float64
		for i := range 20 {
			times = append(times, base*(1+0.002*float64(i)))
		}
		return twosample.NewRun(times)
	}
	list, ok := twosample.Compare([]twosample.Point{{
		Old: []twosample.Run{run(1), run(1.001), run(0.999)},
		New: []twosample.Run{run(1.1), run(1.101), run(1.099)},
	}})
	d := list[0]
	fmt.Printf("%v: %.2f times the rate, at most %.2f; p < 0.01: %v\n", ok[0], math.Exp(d.Log), math.Exp(d.Hi), d.P < 0.01)
	// Output:
	// true: 0.91 times the rate, at most 0.92; p < 0.01: true
}
