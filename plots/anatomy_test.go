package plots

import (
	"strings"
	"testing"

	"matladder/model/anatomy"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// anatomyRecords are a ladder from 0.6 GFLOP/s to 280, two kinds of narrow operands, and a smaller
// size that has no place in the picture.
func anatomyRecords() []results.Record {
	var rows []results.Record
	add := func(size int, dtype, params string, rate float64) {
		for round := range 6 {
			r := hand("v4_optblock", size, rate*(1+0.02*float64(round%3)))
			r.Round, r.DtypeA, r.DtypeB, r.Params, r.ISA, r.PeakFLOPs = round, dtype, dtype, params, "avx512", 3e11
			r.Pos.Line = len(rows) + 2
			rows = append(rows, r)
		}
	}
	for i, rate := range []float64{6e8, 3e9, 1.1e10, 3e10, 8e10, 1.4e11, 2.8e11} {
		add(1024, "float32", anatomy.Param+"="+anatomy.Steps[i].Word, rate)
		add(512, "float32", anatomy.Param+"="+anatomy.Steps[i].Word, 2*rate)
	}
	add(1024, "float32", "", 2.8e11)
	add(1024, "bfloat16", "", 2.6e11)
	add(1024, "int8", "", 9e11)
	return rows
}

func anatomyPicture(t *testing.T) *figure.Rows {
	t.Helper()
	list, err := Pictures(stats.Summarize(anatomyRecords()), Request{Kind: Anatomy})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	return list[0].(*figure.Rows)
}

// TestAnatomy: all steps in their order, each from the one before, narrow operands from the last.
func TestAnatomy(t *testing.T) {
	r := anatomyPicture(t)
	if len(r.Rows) != len(anatomy.Steps)+2 || !strings.Contains(r.Title, "at 1024") || r.Mark != 3e11 {
		t.Fatalf("%q: %d rows, mark %g", r.Title, len(r.Rows), r.Mark)
	}
	for i, want := range []string{"0.6", "5×  3", "3.67×", "2.73×", "2.67×", "1.75×", "2×  28", "0.929×", "3.21×  "} {
		row := r.Rows[i]
		if last := row.Points[len(row.Points)-1]; !strings.Contains(row.Text, want) || i > 0 && row.Points[0].X != r.Rows[min(i-1, anatomy.Threads)].Points[min(i-1, 1)].X || last.Series == 0 {
			t.Errorf("row %d: %+v, want %q", i, row, want)
		}
	}
	plain := hand("v4_optblock", 1024, 1e12)
	if _, err := Pictures(stats.Summarize([]results.Record{plain}), Request{Kind: Anatomy}); err == nil || !strings.Contains(err.Error(), "anatomy") {
		t.Errorf("rows without passes: %v", err)
	}
}
