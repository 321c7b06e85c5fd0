package stats_test

import (
	"fmt"
	"os"
	"time"

	"matladder/results"
	"matladder/stats"
)

// Rows are raw repetitions; what is shown of them is made when they are read.
func ExampleSummarize() {
	var rows []results.Record
	for round := range 8 {
		for kernel, microseconds := range map[string]float64{"v3_block": 900, "v4_optblock": 600} {
			rows = append(rows, results.Record{
				Schema: results.Schema, RunID: "made-up", StartedAt: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Host: "here", Backend: "cpu", Chip: "cpu_some",
				Kernel: kernel, Mode: results.Measured, Method: results.Direct, Status: results.OK,
				Batch: 1, M: 512, K: 512, N: 512, DtypeA: "float32", DtypeB: "float32", DtypeAcc: "float32", DtypeOut: "float32",
				FLOPs: 2 * 512 * 512 * 512, Round: round, Launches: 10, Seconds: 10 * microseconds * 1e-6 * (1 + 0.01*float64(round%3)),
			})
		}
	}
	if err := stats.WriteTable(os.Stdout, "text", stats.Best(stats.Summarize(rows))); err != nil {
		fmt.Println(err)
	}
	// Output:
	// float32 · cpu_some · here · measured · cpu
	//   kernel       size  median     ±  GFLOP/s      over  status
	//   v3_block      512  909 µs  1.0%      295            ok
	//   v4_optblock   512  606 µs  1.0%      443  1.50× v3  ok
}
