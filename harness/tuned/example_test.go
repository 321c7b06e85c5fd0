package tuned_test

import (
	"fmt"

	"matladder/harness/tuned"
	"matladder/problem"
	"matladder/tile"
)

// A problem that is in no row has the answer of the nearest.
func ExampleTable_Lookup() {
	table, err := tuned.Parse("some.yaml", []byte(`machine: some
rows:
  - {kernel: v4_optblock, shape: 512x512x512, a: float32, out: float32, blocks: 256x512x128, mode: measured, seconds: 0.00125, versions: v, date: "2026-11-21"}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range []int{512, 600, 100_000} {
		answer, ok := table.Lookup(tuned.KeyOf("v4_optblock", "", problem.New(n, n, n, tile.Float32)))
		fmt.Println(n, answer.Blocks, answer.Source, ok)
	}
	// Output:
	// 512 256x512x128 tuned true
	// 600 256x512x128 tuned_shape_class true
	// 100000 0x0x0  false
}
