package tuned

import (
	"bytes"
	"os"
	"testing"
)

// TestBefore reads tables as they were once written, before.yaml before rows named their
// family, finds each of their rows, and writes them as they were. They are never written
// anew.
func TestBefore(t *testing.T) {
	for name, rows := range map[string]int{"before": 4, "families": 4, "predicted": 1} {
		t.Run(name, func(t *testing.T) { testBefore(t, "testdata/"+name+".yaml", rows) })
	}
}

func testBefore(t *testing.T, name string, rows int) {
	table, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != rows {
		t.Fatalf("%d rows, want %d", len(table.Rows), rows)
	}
	for _, r := range table.Rows {
		a, ok := table.Lookup(r.Key)
		if !ok || a.Blocks != r.Blocks || a.Params != r.Params || a.Source != Exact && a.Source != Exact+unfinished {
			t.Errorf("%s: %s (%s), %v", r.Key, a, a.Source, ok)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var have bytes.Buffer
	if _, err := table.WriteTo(&have); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have.Bytes(), want) {
		t.Errorf("is written as\n%s", have.Bytes())
	}
}
