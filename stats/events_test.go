package stats

import (
	"bytes"
	"encoding/json"
	"testing"

	"matladder/results"
)

// TestEvents makes figures of a launch from rows of several, of which some were not counted.
func TestEvents(t *testing.T) {
	row := func(round, launches int, cycles, instructions results.Optional[int64]) results.Record {
		flops, _ := results.FLOPCount(1, 64, 64, 64)
		return results.Record{Schema: results.Schema, Kernel: "v1_naive", Mode: results.Measured, Method: results.Direct, Status: results.OK, Batch: 1, M: 64, K: 64, N: 64, DtypeA: "float32",
			Round: round, Launches: launches, Seconds: 1e-3 * float64(launches), FLOPs: flops, Conditions: results.Conditions{Cycles: cycles, Instructions: instructions, L2Misses: results.Some(int64(launches) * 7)}}
	}
	summaries := Summarize([]results.Record{
		row(0, 10, results.Some[int64](10_000), results.Some[int64](25_000)),
		row(1, 30, results.Some[int64](30_000), results.Some[int64](75_000)),
		row(2, 10, results.Optional[int64]{}, results.Optional[int64]{}),
	})
	e := summaries[0].Events
	if _, known := e["l3_misses"]; known || e["cycles"] != 1000 || e["instructions"] != 2500 {
		t.Errorf("of a launch: %+v", e)
	}
	if bytes, known := e.L2Bytes(); !known || bytes != 7*64 {
		t.Errorf("%v bytes", bytes)
	}
	if cell := summaries[0].ipcCell(); cell != "2.50" {
		t.Errorf("%s instructions a cycle", cell)
	}
	var b bytes.Buffer
	if err := WriteTable(&b, "json", summaries); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(b.Bytes(), &list); err != nil || len(list) != 1 || list[0]["cycles"] != 1000.0 {
		t.Errorf("the table for programs: %v %s", err, b.String())
	}
}
