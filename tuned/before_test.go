package tuned

import (
	"bytes"
	"os"
	"testing"
)

// TestBefore reads a table as it was written before rows named their family, finds each
// of its rows, and writes it as it was. testdata/before.yaml is never written anew.
func TestBefore(t *testing.T) {
	const name = "testdata/before.yaml"
	table, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 4 {
		t.Fatalf("%d rows", len(table.Rows))
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
