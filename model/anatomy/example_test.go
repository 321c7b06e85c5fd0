package anatomy_test

import (
	"fmt"

	"matladder/model/anatomy"
)

// What limits each step on a core with AVX2, and how many times as fast it is as three loops by
// the counts.
func ExampleCore_Count() {
	core, _ := anatomy.CoreOf("avx2")
	first := 0.0
	for i, s := range anatomy.Steps[:anatomy.Threads] {
		limit, cycles := core.Count(i, 1024, 1024, 1024).Limit()
		if i == 0 {
			first = cycles
		}
		fmt.Printf("%4.0f× %s: %s\n", first/cycles, s.Name, limit)
	}
	// Output:
	//    1× three loops: L3
	//    4× loop order: issue
	//   16× SIMD: L3
	//   90× register tile: L3
	//  104× packing: L3
	//  112× cache blocking: issue
}
