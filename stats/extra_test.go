package stats

import (
	"strings"
	"testing"

	"matladder/results"
)

// TestTableColumns: columns on request are of the samples that the figures rest on.
func TestTableColumns(t *testing.T) {
	var rows []results.Record
	for round := range 11 {
		r := watched("r", round, 1e-4, 1e-4)
		r.Seconds = 1e-3 * float64(10+round)
		rows = append(rows, r)
	}
	rows[10].WaitedSeconds = results.Some(1e-2) // disturbed: the longest
	names, err := ParseTableColumns("min, p20,p80,n,disturbed")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := WriteTable(&text, "md", Summarize(rows), names...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"median | ± | min | p20 | p80 | n | disturbed |", "| 14.5 ms | 24.1% | 10.0 ms | 11.8 ms | 17.2 ms | 10 | 1 |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	for _, wrong := range []string{"", "p50", "min,min"} {
		if _, err := ParseTableColumns(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
