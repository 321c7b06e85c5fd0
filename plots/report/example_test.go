package report_test

import (
	"bytes"
	"fmt"

	"matladder/stats"

	"matladder/plots/report"
	"matladder/results"
)

// One page with everything in it: no other file, no network.
func ExampleWrite() {
	rows := []results.Record{{
		Schema: results.Schema, RunID: "made-up", Host: "here", Backend: "cpu", Chip: "cpu_some",
		Kernel: "v1_naive", Mode: results.Measured, Method: results.Direct, Status: results.OK,
		M: 256, K: 256, N: 256, DtypeA: "float32", Launches: 1, Seconds: 1e-3,
	}}
	var page bytes.Buffer
	if err := report.Write(&page, report.Input{Summaries: stats.Summarize(rows)}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.HasPrefix(page.Bytes(), []byte("<!doctype html>")), bytes.Contains(page.Bytes(), []byte("v1_naive")))
	// Output:
	// true true
}
