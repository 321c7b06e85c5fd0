package stats

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"matladder/results"

	"matladder/internal/goldentest"
)

// TestBefore reads files as they were once written, before.csv before rows named their
// family, families.csv when there were seven, meshes, cold caches and the control: every
// cell means what it meant, and the summary is what it was. They are never written anew.
func TestBefore(t *testing.T) {
	for _, name := range []string{"before", "families"} {
		t.Run(name, func(t *testing.T) { testBefore(t, "testdata/"+name) })
	}
}

func testBefore(t *testing.T, path string) {
	name := path + ".csv"
	f, err := results.ReadFile(name)
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
	written, err := csv.NewReader(bytes.NewReader(write(t, f.Rows))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for c, name := range cells[0] {
		at := slices.Index(written[0], name)
		if at < 0 {
			t.Errorf("column %s is not known any more", name)
			continue
		}
		for i := range f.Rows {
			if have, want := written[i+1][at], cells[i+1][c]; have != want {
				t.Fatalf("line %d: %s is %q, was %q", i+2, name, have, want)
			}
		}
	}
	for _, format := range []string{"text", "benchstat"} {
		var have bytes.Buffer
		if err := WriteTable(&have, format, Best(Summarize(f.Rows))); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, path+"."+format, have.Bytes())
	}
}
