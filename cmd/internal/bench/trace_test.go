package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrace measures, and records one launch of each kernel; a file that cannot be written
// loses no row.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	csv, file := filepath.Join(dir, "r.csv"), filepath.Join(dir, "new", "trace.json")
	var out, said bytes.Buffer
	args := []string{"--kernel", "3,5", "--sizes", "128", "--blocks", "64x64x64", "--dtype", "float32", "--time-budget", "1ns", "--threads", "2"}
	if code := Run(t.Context(), append(args, "--out", csv, "--trace", file), &out, &said); code != 0 {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	if !strings.Contains(out.String(), "trace.json: one launch of 2 points, for ui.perfetto.dev") {
		t.Errorf("said %s", out.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct{ Name, Cat, Ph string }
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	steps := map[string]int{}
	for _, e := range trace.TraceEvents {
		if name, _, _ := strings.Cut(e.Name, ","); e.Cat == "step" {
			steps[name]++
		}
	}
	if steps["v3_block"] != 1 || steps["v5_quant"] != 8 {
		t.Errorf("steps %v", steps)
	}
	if err := os.WriteFile(filepath.Join(dir, "taken"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	said.Reset()
	again := filepath.Join(dir, "again.csv")
	if code := Run(t.Context(), append(args, "--out", again, "--trace", filepath.Join(dir, "taken", "x.json")), &out, &said); code != 1 || said.Len() == 0 {
		t.Errorf("exit %d: %s", code, said.String())
	}
	if rows, err := os.ReadFile(again); err != nil || len(rows) < 1000 {
		t.Errorf("%d bytes of rows, %v", len(rows), err)
	}
}
