package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/kernels"
	"matladder/results"
)

// A bar is something that is to hold, and what was found.
type bar struct {
	what, wanted, found string
	verdict             string // met, missed, or why it is not known
}

const (
	met         = "met"
	missed      = "missed"
	notMeasured = "not measured"
)

func verdict(ok bool) string {
	if ok {
		return met
	}
	return missed
}

// report judges what is in the folder, and writes and prints it.
func (o *options) report(stdout, stderr io.Writer) error {
	files := map[string][]results.Record{}
	var all []results.Record
	for _, name := range []string{"verify", "bfloat16", "narrow", "float32", "chain", "l2", "model", "predict"} {
		f, err := results.ReadFile(o.file(name + ".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		for _, w := range f.Warnings() {
			fmt.Fprintf(stderr, "gpubars: %v\n", w)
		}
		files[name] = f.Rows
		all = append(all, f.Rows...)
	}
	if len(all) == 0 {
		fmt.Fprintf(stderr, "gpubars: %s has no rows yet: there is nothing to judge\n", o.folder)
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# The bars of a GPU\n\n")
	first := all[0]
	fmt.Fprintf(&text, "%s (%s), %s %s, %s. Command: `%s`.\n\n", first.Device, first.Chip, first.Plugin, first.PluginVersion,
		first.StartedAt.Format("2006-01-02"), "gpubars --sizes "+o.sizes+" --time-budget "+o.budget.String())
	if names := devices(all); len(names) > 1 {
		fmt.Fprintf(&text, "Rows are of several devices, which bars do not keep apart: %s.\n\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(&text, "| what | wanted | found | |\n| --- | --- | --- | --- |\n")
	for _, b := range judge(files) {
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", b.what, b.wanted, b.found, b.verdict)
	}
	if _, err := io.WriteString(stdout, text.String()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.folder, "bars.md"), []byte(text.String()), 0o644)
}

// devices are the names of those that rows were measured on.
func devices(rows []results.Record) []string {
	names := map[string]bool{}
	for i := range rows {
		if rows[i].Mode == results.Measured {
			names[rows[i].Device] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// judge holds rows, by the name of their file, against the bars.
func judge(files map[string][]results.Record) []bar {
	bars := []bar{verified(files)}
	for _, b := range []struct {
		file, dtype, precision string
		least                  float64
	}{
		{"bfloat16", "bfloat16", "", 0.95}, {"narrow", "float8_e4m3fn", "", 0.9}, {"narrow", "int8", "", 0.9}, {"float32", "float32", "highest", 0.9},
	} {
		bars = append(bars, besideXLA(files[b.file], b.dtype, b.precision, b.least)...)
	}
	bars = append(bars, slopes(files["bfloat16"], files["chain"])...)
	return append(bars, predictions(files["model"], files["predict"]))
}

// verified counts what became of every row that was measured.
func verified(files map[string][]results.Record) bar {
	b := bar{what: "outputs against float64", wanted: "every one right"}
	right, bad, none := 0, map[string]int{}, map[results.Status]int{}
	for name, rows := range files {
		for i := range rows {
			switch r := &rows[i]; {
			case name == "predict":
			case r.Status == results.OK && r.ErrOverBound.Known:
				right++
			case r.Status == results.TooBig, r.Status == results.Unsupported, r.Status == results.Skipped:
				none[r.Status]++
			default:
				bad[r.Kernel+" "+r.Product()+" "+r.Size()+": "+string(r.Status)]++
			}
		}
	}
	b.found = fmt.Sprintf("%d rows right", right)
	for _, status := range slices.Sorted(maps.Keys(none)) {
		b.found += fmt.Sprintf(", %d %s", none[status], status)
	}
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		b.found += "; " + what
	}
	b.verdict = verdict(right > 0 && len(bad) == 0)
	return b
}

// fastest are the summaries of a kernel in the shapes and parameters in which it is the
// fastest, by the size of their problem.
func fastest(rows []results.Record, kernel, dtype, precision string) []stats.Summary {
	var list []stats.Summary
	for _, s := range stats.Best(stats.Summarize(rows)) {
		if s.Kernel == kernel && s.DtypeA == dtype && (precision == "" || s.Precision == precision) && s.Time.Known() {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b stats.Summary) int { return cmp.Compare(a.M, b.M) })
	return list
}

// fifth is the rung that is held against XLA.
var fifth = kernels.All[4].Name()

func besideXLA(rows []results.Record, dtype, precision string, least float64) (bars []bar) {
	name := strings.TrimSpace(dtype + " " + precision)
	wanted := fmt.Sprintf("at least %.2f of XLA", least)
	for _, s := range fastest(rows, fifth, dtype, precision) {
		b := bar{what: fmt.Sprintf("%s %s %s", fifth, name, s.Size()), wanted: wanted, verdict: "XLA has no figure"}
		if p := s.PercentOfBaseline; p.Known() {
			b.found = fmt.Sprintf("%.3f [%.3f, %.3f] of XLA, %.0f T/s, %.0f %% of the peak, operands %s",
				p.Median/100, p.Lo/100, p.Hi/100, s.Rate.Median/1e12, s.PercentOfPeak.Median, cmp.Or(s.Operands, "?"))
			b.verdict = verdict(p.Median/100 >= least)
		}
		bars = append(bars, b)
	}
	if bars == nil {
		bars = []bar{{what: fifth + " " + name, wanted: wanted, found: failure(rows, fifth, dtype, precision), verdict: notMeasured}}
	}
	return bars
}

// failure is why the first row of a kernel that has no figure has none, "" if all have one.
func failure(rows []results.Record, kernel, dtype, precision string) string {
	for i := range rows {
		if r := &rows[i]; r.Kernel == kernel && r.DtypeA == dtype && (precision == "" || r.Precision == precision) && r.Status != results.OK {
			return strings.ReplaceAll(fmt.Sprintf("%s: %s: %s", r.Size(), r.Status, r.Reason), "|", "/")
		}
	}
	return ""
}

// slopes holds the slope of a loop against the time of a launch in a chain.
func slopes(loop, chain []results.Record) (bars []bar) {
	for _, a := range fastest(loop, fifth, "bfloat16", "") {
		for _, b := range fastest(chain, fifth, "bfloat16", "") {
			if a.Size() != b.Size() {
				continue
			}
			off := a.Time.Median/b.Time.Median - 1
			bars = append(bars, bar{"a loop's slope, bfloat16 " + a.Size(), "within 3 % of a chain's",
				fmt.Sprintf("%+.1f %% (%.4g and %.4g s)", 100*off, a.Time.Median, b.Time.Median), verdict(math.Abs(off) <= 0.03)})
		}
	}
	if bars == nil {
		bars = []bar{{what: "a loop's slope", wanted: "within 3 % of a chain's", verdict: notMeasured}}
	}
	return bars
}
