package stats

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"matladder/results"
	"matladder/stats/interval"
)

// file has the rows of a run of eight rounds of v3, each a little slower than the last.
func file(name string, seconds float64, change func(*results.Record)) []results.Record {
	var rows []results.Record
	for round := range 8 {
		r := row("v3_block", round, 0, 1, seconds*(1+0.001*float64(round)))
		r.Pos.File, r.BM, r.BK, r.BN, r.Threads, r.Method = name, 128, 128, 128, 2, results.Direct
		r.RunID = name
		change(&r)
		rows = append(rows, r)
	}
	return rows
}

// TestPair matches points, tells what differs, and judges.
func TestPair(t *testing.T) {
	same := func(*results.Record) {}
	xla := func(rows []results.Record, factor float64) []results.Record {
		for _, r := range rows {
			r.Kernel, r.BM, r.BK, r.BN, r.PluginVersion = results.Baseline, 0, 0, 0, "1"
			r.Seconds = 3 * factor * (1 + 0.001*float64(r.Round))
			rows = append(rows, r)
		}
		return rows
	}
	for _, c := range []struct {
		name   string
		new    []results.Record
		best   bool
		want   string
		onlies string
	}{
		{"alike", file("b", 1, same), false, "UNSURE 1.000", "0 0"}, // of one run a side
		{"faster", file("b", 0.5, same), false, "FASTER 2.000", "0 0"},
		{"slower", file("b", 2, same), false, "SLOWER 0.500", "0 0"},
		{"a little slower", file("b", 1.03, same), false, "UNSURE 0.971", "0 0"},
		{"another kernel", file("b", 2, func(r *results.Record) { r.MatladderVersion = "9 kernels ff" }), false, "SLOWER 0.500 | kernels: not stated, then ff", "0 0"},
		{"block source", file("b", 2, func(r *results.Record) { r.BlockSource = "tuned" }), false, "SLOWER 0.500 | block source: not stated, then tuned", "0 0"},
		{"threads", file("b", 2, func(r *results.Record) { r.Threads = 4 }), false, "SLOWER 0.500 threads: 2, then 4", "0 0"},
		{"method", file("b", 2, func(r *results.Record) { r.Method = results.Wall }), false, "SLOWER 0.500 method: direct, then wall", "0 0"},
		{"host", file("b", 2, func(r *results.Record) { r.Host = "h2" }), false, "SLOWER 0.500 host: not stated, then h2", "0 0"},
		{"wrong", file("b", 1, func(r *results.Record) { r.Status = results.Wrong }), false, "LOST 0.000", "0 0"},
		{"wrong in one file of two", append(file("b", 1, same), file("c", 1, func(r *results.Record) { r.Status = results.Wrong })...), false, "LOST 0.000", "0 0"},
		{"a slope that noise hides", file("b", 1, func(r *results.Record) { r.Method = results.Loop }), false, "UNSURE 0.000 method: direct, then loop", "0 0"},
		{"blocks", file("b", 0.5, func(r *results.Record) { r.BM = 64 }), false, "", "1 1"},
		{"best blocks", file("b", 0.5, func(r *results.Record) { r.BM = 64 }), true, "FASTER 2.000 | blocks: 128×128×128, then 64×128×128", "0 0"},
		{"another size", file("b", 1, func(r *results.Record) { r.M = 64 }), false, "", "1 1"},
		{"samples of one round", file("b", 2, same)[:1], false, "UNSURE 0.501", "0 0"},
		{"predicted elsewhere, from another file", file("b", 2, func(r *results.Record) {
			r.Mode, r.Method, r.Host, r.Plugin = results.Predicted, results.AOT, "h2", "k2.py"
		})[:1], false, "SLOWER 0.500 | plugin: not stated, then k2.py", "0 0"},
		{"XLA as it was", xla(file("b", 2, same), 1), false, "SLOWER 0.500; SHARED 1.000", "0 0"},
		{"XLA moved too", xla(file("b", 2, same), 3), false, "UNSURE 0.500; SHARED 0.333", "0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := file("a", 1, same)
			if strings.HasPrefix(c.name, "XLA") {
				old = xla(old, 1)
			}
			if strings.HasPrefix(c.name, "predicted") {
				old = old[:1]
				old[0].Mode, old[0].Method = results.Predicted, results.AOT
			}
			for i := range old {
				old[i].Host = ""
			}
			for i := range c.new {
				c.new[i].Host = strings.TrimPrefix(c.new[i].Host, minimal().Host)
			}
			list, onlyOld, onlyNew := Pair(Summarize(old), Summarize(c.new), 0.02, c.best)
			var got []string
			for _, p := range list {
				text := fmt.Sprintf("%s %.3f %s", p.Verdict, p.Ratio.Median, strings.Join(p.Differences, ", "))
				if len(p.Remarks) > 0 {
					text = strings.TrimSpace(text) + " | " + strings.Join(p.Remarks, ", ")
				}
				got = append(got, strings.TrimSpace(text))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if text := fmt.Sprint(len(onlyOld), len(onlyNew)); text != c.onlies {
				t.Errorf("alone %s, want %s", text, c.onlies)
			}
		})
	}
	list := []Comparison{{Ratio: Estimate{Interval: interval.Interval{Median: 2, N: 1}}}, {Ratio: Estimate{Interval: interval.Interval{Median: 0.5, N: 1}}}, {Ratio: Estimate{Interval: interval.Interval{Median: 9, N: 1}}, Verdict: Shared}, {Verdict: Lost}}
	if mean, n := GeoMean(list); math.Abs(mean-1) > 1e-12 || n != 2 {
		t.Errorf("geometric mean %g of %d", mean, n)
	}
}

// TestPair_Runs: what runs of one side differ by decides what a difference between sides
// means, however many samples each has.
func TestPair_Runs(t *testing.T) {
	side := func(name string, seconds ...float64) []Summary {
		var rows []results.Record
		for i, s := range seconds {
			rows = append(rows, file(fmt.Sprint(name, i), s, func(*results.Record) {})...)
		}
		return Summarize(rows)
	}
	for _, c := range []struct {
		old, new []float64
		want     Verdict
	}{
		{[]float64{1, 1.003, 0.998, 1.001, 1}, []float64{1.002, 0.999, 1, 1.001, 1}, Same},
		{[]float64{1, 1.003, 0.998, 1.001, 1}, []float64{1.052, 1.049, 1.05, 1.051, 1.05}, Slower},
		{[]float64{1, 1.003, 0.998, 1.001, 1}, []float64{0.952, 0.949, 0.95, 0.951, 0.95}, Faster},
		{[]float64{1, 1.3, 0.9, 1.1, 1}, []float64{1.052, 1.349, 1, 1.1, 1.05}, Unsure},
	} {
		list, _, _ := Pair(side("a", c.old...), side("b", c.new...), 0.02, false)
		if len(list) != 1 || list[0].Verdict != c.want || list[0].Runs != [2]int{5, 5} || list[0].Samples != [2]int{40, 40} {
			t.Errorf("%v against %v: %+v, want %s", c.new, c.old, list, c.want)
		}
	}
}
