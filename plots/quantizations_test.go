package plots

import (
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"matladder/results"
)

// accuracyRows are ways to multiply at two sizes, of which 2048 has more: one that
// is exact and one that failed have no place in the picture.
func accuracyRows() []results.Record {
	var rows []results.Record
	add := func(size int, a, b, quant, variant string, rate, rel, lost float64, status results.Status) {
		for round := range 6 {
			r := hand("v5_quant", size, rate*(1+0.02*float64(round%3)))
			r.Round, r.DtypeA, r.DtypeB, r.DtypeOut, r.Quant, r.Variant, r.Dist = round, a, b, "bfloat16", quant, variant, "normal"
			r.RelErr = results.Some(rel)
			if quant != "" {
				r.QuantRelErr = results.Some(lost)
			}
			r.Status, r.Pos.Line = status, len(rows)+2
			rows = append(rows, r)
		}
	}
	for _, size := range []int{1024, 2048} {
		add(size, "bfloat16", "bfloat16", "", "", 4e11, 0.0017, 0, results.OK)
		add(size, "int8", "int8", "per_channel+token", "", 1.6e12, 0.0017, 0.0097, results.OK)
		add(size, "int8", "int8", "per_tensor", "", 1.7e12, 0.0017, 0.0255, results.OK)
	}
	add(2048, "bfloat16", "int4", "per_block128", "", 3e11, 0.0017, 0.1036, results.OK)
	add(2048, "bfloat16", "int8", "per_channel+dynamic_token", "", 1.5e12, 0.0017, 0.0095, results.OK)
	add(2048, "bfloat16", "int8", "per_channel+dynamic_token", "fused", 1.4e12, 0.0017, 0.0095, results.OK)
	add(2048, "int8", "int8", "per_block64+token", "", 1e12, 0.0017, 0.008, results.Wrong)
	add(2048, "int8", "int8", "", "", 1.8e12, 0, 0, results.OK)
	return rows
}

func accuracyPicture(t *testing.T) *figure.Chart {
	t.Helper()
	list, err := Pictures(stats.Summarize(accuracyRows()), Request{Kind: Accuracy})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	return list[0].(*figure.Chart)
}

// TestAccuracy: the shape measured in most ways, quantized ways by what they lose,
// others by what they round.
func TestAccuracy(t *testing.T) {
	ch := accuracyPicture(t)
	want := map[string]float64{
		"bfloat16": 0.0017, "int8 per_channel+token": 0.0097, "int8 per_tensor": 0.0255, "bfloat16×int4 per_block128": 0.1036,
		"bfloat16×int8 per_channel+dynamic_token": 0.0095, "bfloat16×int8 per_channel+dynamic_token fused": 0.0095,
	}
	if len(ch.Series) != len(want) || !strings.Contains(ch.Title, "at 2048") {
		t.Errorf("%q with %d series, want %d", ch.Title, len(ch.Series), len(want))
	}
	for _, s := range ch.Series {
		if len(s.Points) != 1 || s.Points[0].Y != want[s.Label] {
			t.Errorf("%s: %+v, want %v", s.Label, s.Points, want[s.Label])
		}
	}
	exact := hand("v5_quant", 1024, 1e12)
	if _, err := Pictures(stats.Summarize([]results.Record{exact}), Request{Kind: Accuracy}); err == nil || !strings.Contains(err.Error(), "per_channel") {
		t.Errorf("rows without errors: %v", err)
	}
}
