package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"matladder/results"
)

// TestInputs: points of other inputs are others, in every figure and table.
func TestInputs(t *testing.T) {
	at := func(file, kernel, dist string, seconds float64) (rows []results.Record) {
		for round := range 8 {
			r := watched("r", round, 1e-4, 1e-4)
			r.Kernel, r.Dist, r.Seconds, r.Pos.File, r.DtypeOut = kernel, dist, seconds, file, "float32"
			rows = append(rows, r)
		}
		return rows
	}
	old := slices.Concat(at("old", "v4_optblock", "zeros", 1e-3), at("old", "v4_optblock", "uniform", 2e-3), at("old", "v3_block", "uniform", 4e-3), at("old", "xla", "uniform", 1e-3))
	new := slices.Concat(at("new", "v4_optblock", "uniform", 2e-3), at("new", "v4_optblock", "bits:4", 5e-3), at("new", "v4_optblock", "zeros", 1e-3))
	sums := Summarize(old)
	if zeros := sums[0]; len(sums) != 4 || zeros.Below != "" || zeros.PercentOfBaseline.Known() || len(Best(sums)) != 4 {
		t.Errorf("%d points: %+v", len(sums), zeros)
	}
	if uniform := sums[1]; uniform.OverBelow.Median != 2 || uniform.PercentOfBaseline.Median != 50 || uniform.Against(&sums[0]).Median != 0.5 {
		t.Errorf("%+v", uniform)
	}
	list, onlyOld, onlyNew := Pair(sums, Summarize(new), 0.02, false)
	if len(list) != 2 || len(onlyOld) != 2 || len(onlyNew) != 1 {
		t.Errorf("%d pairs, %d and %d alone", len(list), len(onlyOld), len(onlyNew))
	}
	for _, c := range list {
		if c.Old.Dist != c.New.Dist || c.Ratio.Median != 1 {
			t.Errorf("%s against %s: %v", c.Old.Dist, c.New.Dist, c.Ratio)
		}
	}
	if changed, _, _ := Pair(Summarize(at("old", "v1", "uniform", 1)), Summarize(at("new", "v1", "normal", 1)), 0.02, false); len(changed) != 1 || fmt.Sprint(changed[0].Differences) != "[inputs: uniform, then normal]" {
		t.Errorf("%+v", changed)
	}
	var text strings.Builder
	if err := WriteTable(&text, "text", Summarize(new)); err != nil {
		t.Fatal(err)
	}
	order := []int{strings.Index(text.String(), " zeros "), strings.Index(text.String(), " bits:4 "), strings.Index(text.String(), " uniform ")}
	if !slices.IsSorted(order) || order[0] < 0 {
		t.Errorf("%v in\n%s", order, &text)
	}
	text.Reset()
	if err := WriteComparisons(&text, "text", list); err != nil || !strings.Contains(text.String(), " zeros ") {
		t.Errorf("%v\n%s", err, &text)
	}
}
