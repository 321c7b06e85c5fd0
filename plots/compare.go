package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// sameBand is the change of the time that does not matter, as in cmd/compare.
const sameBand = 0.02

// maxRows is how many comparisons one picture shows.
const maxRows = 80

// comparePictures holds the second of two runs against the first: a row for each
// point, the ratio of its rates with interval and verdict.
func comparePictures(q Request, d data) ([]figure.Picture, error) {
	files, runs := each.Grouped(d.asked, func(s *stats.Summary) string { return s.Pos.File })
	if len(files) == 1 {
		return nil, fmt.Errorf("%s: only %s has rows of it: nothing to compare", q.Dtype, files[0])
	}
	if len(files) != 2 {
		return nil, fmt.Errorf("%s: compare holds one results file against another: name two, the old one first; there are %d files", q.Dtype, len(files))
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
	r := &figure.Rows{Mark: 1, Band: [2]float64{1 / (1 + sameBand), 1 + sameBand}}
	var shown []*stats.Summary
	var differ []string
	for _, c := range list {
		shown = append(shown, c.New)
		for _, text := range c.Differences {
			differ = each.With(differ, text)
		}
	}
	r.Heading = headingOf(q, filepath.Base(files[1])+" against "+filepath.Base(files[0]), shown, false, "")
	r.Subtitle = []string{"each point with the ratio of its rates and its 95 % interval: above 1 the second file is faster"}
	summary := cmp.Or(words.When(n > 0, "geometric mean of %d ratios %s", n, figure.Digits(mean)), "no ratios")
	for _, v := range stats.Verdicts {
		summary += words.When(counts[v] > 0, " · %d %s", counts[v], v)
	}
	alone := len(onlyOld) + len(onlyNew)
	r.Subtitle = append(r.Subtitle, summary+words.When(all > len(list), " · below the %d of %d points that matter most", len(list), all)+
		words.When(alone > 0, " · %d points in one file alone", alone))
	if len(differ) > 0 {
		r.Subtitle = append(r.Subtitle, "not the same machine or method: "+strings.Join(differ, "; "))
	}
	slices.SortStableFunc(list, func(a, b stats.Comparison) int { return comparePoints(a.New, b.New) })
	least, most := 0.9, 1.1
	for _, c := range list {
		addComparison(r, c)
		if e := c.Ratio; e.Known() {
			least, most = math.Min(least, e.Median), math.Max(most, e.Median)
			if e.Sure() {
				least, most = math.Min(least, math.Max(e.Lo, e.Median/2)), math.Max(most, math.Min(e.Hi, e.Median*2))
			}
		}
	}
	const label = "rate in the second file over rate in the first"
	air := (most - least) * 0.04
	r.X = figure.Between(label, least-air, most+air, times)
	if most > 4*least {
		r.X = figure.Axis{Label: label, Scale: figure.Log, Min: least / 1.1, Max: most * 1.1, Unit: times}
	}
	return []figure.Picture{r}, nil
}

// comparePoints orders points by kernel, size and blocks.
func comparePoints(a, b *stats.Summary) int {
	return cmp.Or(stats.CompareKernels(a.Kernel, b.Kernel), cmp.Compare(a.Work(), b.Work()), cmp.Compare(choiceOf(a).volume(), choiceOf(b).volume()))
}

func addComparison(r *figure.Rows, c stats.Comparison) {
	at := seriesIn(r, c.New)
	name := []string{c.New.Kernel, c.New.Variant}
	if c.New.Kernel != results.Baseline && choiceOf(c.New).volume() > 0 {
		name = append(name, choiceOf(c.New).name(), c.New.Params)
	}
	row := figure.Row{Label: words.Joined(" ", append(name, "at "+c.New.Size(), c.New.Under())...), Color: figure.TextColor(kernelColor(c.New.Kernel)),
		Text: string(c.Verdict), Strong: c.Verdict != stats.Same && c.Verdict != stats.Unsure}
	switch {
	case c.Ratio.Known():
		row.Points = []figure.RowPoint{{Series: at, X: c.Ratio.Median, Lo: c.Ratio.Lo, Hi: c.Ratio.Hi}}
		row.Text = figure.Digits(c.Ratio.Median) + "×  " + row.Text + words.When(!c.Ratio.Sure(), " (n=%d)", c.Ratio.N)
	case c.Verdict == stats.Lost:
		row.Text += ": " + string(c.New.Status)
	}
	r.Rows = append(r.Rows, row)
}
