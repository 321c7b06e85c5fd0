package plots_test

import (
	"fmt"

	"matladder/stats"

	"matladder/plots"
	"matladder/plots/figure"
	"matladder/results"
)

// A picture is data before it is drawn.
func ExamplePictures() {
	var rows []results.Record
	for _, n := range []int{256, 512, 1024} {
		flops, _ := results.FLOPCount(1, n, n, n)
		for round := range 6 {
			rows = append(rows, results.Record{
				Schema: results.Schema, RunID: "made-up", Host: "here", Backend: "cpu", Chip: "cpu_some",
				Kernel: "v4_optblock", Mode: results.Measured, Method: results.Direct, Status: results.OK,
				Batch: 1, M: n, K: n, N: n, DtypeA: "float32", DtypeB: "float32", DtypeAcc: "float32", DtypeOut: "float32",
				FLOPs: flops, Round: round, Launches: 1, Seconds: float64(flops) / 2e11,
			})
		}
	}
	pictures, err := plots.Pictures(stats.Summarize(rows), plots.Request{Kind: "size", Kernel: "v4_optblock", Dtype: "float32"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range pictures {
		fmt.Println(p.Head().Name, "·", p.Head().Title)
		for _, s := range p.(*figure.Chart).Series {
			fmt.Printf("%s: %d points\n", s.Label, len(s.Points))
		}
	}
	// Output:
	// performance_kernel_4_float32 · v4_optblock, float32, on cpu_some
	// v4_optblock: 3 points
}
