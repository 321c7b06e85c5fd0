package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// sameBand is the change of the time that does not matter, as in cmd/compare.
const sameBand = 0.02

// maxRows is how many comparisons one picture shows.
const maxRows = 80

// comparePictures holds the second of two runs against the first: a row for each
// point, the ratio of its rates with interval and verdict.
func comparePictures(q Request, d data) ([]Picture, error) {
	var files []string
	runs := map[string][]stats.Summary{}
	for _, s := range d.asked {
		if runs[s.Pos.File] == nil {
			files = append(files, s.Pos.File)
		}
		runs[s.Pos.File] = append(runs[s.Pos.File], s)
	}
	if len(files) == 1 {
		return nil, fmt.Errorf("%s: only %s has rows of it: nothing to compare", q.Dtype, files[0])
	}
	if len(files) != 2 {
		return nil, fmt.Errorf("%s: compare holds one results file against another: give --input twice, the old one first; there are %d files", q.Dtype, len(files))
	}
	list, onlyOld, onlyNew := stats.Pair(runs[files[0]], runs[files[1]], sameBand, false)
	if len(list) == 0 {
		return nil, errors.New(q.Dtype + ": the two files share no point that ran")
	}
	mean, n := stats.GeoMean(list) // of all, shown or not
	counts := map[stats.Verdict]int{}
	for _, c := range list {
		counts[c.Verdict]++
	}
	all := len(list)
	if all > maxRows {
		slices.SortStableFunc(list, stats.CompareVerdicts)
		list = list[:maxRows]
	}
	r := &Rows{Mark: 1, Band: [2]float64{1 / (1 + sameBand), 1 + sameBand}}
	var shown []*stats.Summary
	var differ []string
	for _, c := range list {
		shown = append(shown, c.New)
		for _, text := range c.Differences {
			if !slices.Contains(differ, text) {
				differ = append(differ, text)
			}
		}
	}
	r.Heading = headingOf(q, filepath.Base(files[1])+" against "+filepath.Base(files[0]), shown, false, "")
	r.Subtitle[1] = "each point with the ratio of its rates and its 95 % interval: above 1 the second file is faster"
	summary := "no ratios"
	if n > 0 {
		summary = fmt.Sprintf("geometric mean of %d ratios %s", n, digits(mean))
	}
	for _, v := range stats.Verdicts {
		if counts[v] > 0 {
			summary += fmt.Sprintf(" · %d %s", counts[v], v)
		}
	}
	if all > len(list) {
		summary += fmt.Sprintf(" · below the %d of %d points that matter most", len(list), all)
	}
	if alone := len(onlyOld) + len(onlyNew); alone > 0 {
		summary += fmt.Sprintf(" · %d points in one file alone", alone)
	}
	r.Subtitle = append(r.Subtitle, summary)
	if len(differ) > 0 {
		r.Subtitle = append(r.Subtitle, "not the same machine or method: "+strings.Join(differ, "; "))
	}
	slices.SortStableFunc(list, func(a, b stats.Comparison) int { return comparePoints(a.New, b.New) })
	least, most := 0.9, 1.1
	for _, c := range list {
		r.addComparison(c)
		if c.Ratio.Known() {
			least, most = math.Min(least, c.Ratio.Median), math.Max(most, c.Ratio.Median)
			if c.Ratio.Sure() {
				least, most = math.Min(least, math.Max(c.Ratio.Lo, c.Ratio.Median/2)), math.Max(most, math.Min(c.Ratio.Hi, c.Ratio.Median*2))
			}
		}
	}
	if most > 4*least {
		r.X = Axis{Label: "rate in the second file over rate in the first", Scale: Log, Min: least / 1.1, Max: most * 1.1, Unit: Unit{"×", 1}}
		return []Picture{r}, nil
	}
	air := (most - least) * 0.04
	r.X = between("rate in the second file over rate in the first", least-air, most+air, Unit{"×", 1})
	return []Picture{r}, nil
}

// comparePoints orders points by kernel, size and blocks.
func comparePoints(a, b *stats.Summary) int {
	fa, fb := a.Work(), b.Work()
	switch {
	case a.Kernel != b.Kernel:
		return stats.CompareKernels(a.Kernel, b.Kernel)
	case fa != fb:
		return cmp.Compare(fa, fb)
	}
	return strings.Compare(fmt.Sprintf("%012g", choiceOf(a).volume()), fmt.Sprintf("%012g", choiceOf(b).volume()))
}

func (r *Rows) addComparison(c stats.Comparison) {
	at := r.seriesOf(c.New)
	name := []string{c.New.Kernel, c.New.Variant}
	if c.New.Kernel != results.Baseline && choiceOf(c.New).volume() > 0 {
		name = append(name, choiceOf(c.New).name(), c.New.Params)
	}
	name = append(name, "at "+c.New.Size())
	row := Row{Label: strings.Join(slices.DeleteFunc(name, func(p string) bool { return p == "" }), " "),
		Color: textColor(kernelColor(c.New.Kernel)), Text: string(c.Verdict)}
	row.Strong = c.Verdict != stats.Same && c.Verdict != stats.Unsure
	switch {
	case c.Ratio.Known():
		row.Points = []RowPoint{{at, c.Ratio.Median, c.Ratio.Lo, c.Ratio.Hi}}
		row.Text = digits(c.Ratio.Median) + "×  " + row.Text
		if !c.Ratio.Sure() {
			row.Text += fmt.Sprintf(" (n=%d)", c.Ratio.N)
		}
	case c.Verdict == stats.Lost:
		row.Text += ": " + string(c.New.Status)
	}
	r.Rows = append(r.Rows, row)
}
