package results

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"matladder/internal/golden"
)

// TestBefore reads a file as it was written before rows named their family: every cell
// means what it meant, and its summary is what it was. testdata/before.csv is never
// written anew.
func TestBefore(t *testing.T) {
	const name = "testdata/before.csv"
	f, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if w := f.Warnings(); w != nil {
		t.Fatal(w)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != len(cells)-1 {
		t.Fatalf("%d rows of %d", len(f.Rows), len(cells)-1)
	}
	for c, name := range cells[0] {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if at < 0 {
			t.Errorf("column %s is not known any more", name)
			continue
		}
		for i := range f.Rows {
			if have, want := columns[at].cell(&f.Rows[i]), cells[i+1][c]; have != want {
				t.Fatalf("line %d: %s is %q, was %q", i+2, name, have, want)
			}
		}
	}
	for _, format := range []string{"text", "benchstat"} {
		var have bytes.Buffer
		if err := WriteTable(&have, format, Best(Summarize(f.Rows))); err != nil {
			t.Fatal(err)
		}
		golden.Assert(t, "testdata/before."+format, have.Bytes())
	}
}
