package plots

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/model/anatomy"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// anatomyPictures shows what each pass of the CPU backend gains on one product: its rate on a log
// axis, from that of the pass before, and what limits it by the counts of a machine model. Below
// are the same kernel's narrower operands. It is of the largest size that passes ran at.
func anatomyPictures(q Request, d data) ([]figure.Picture, error) {
	steps := make([]*stats.Summary, len(anatomy.Steps))
	for _, s := range each.Pointers(d.asked) {
		for at, step := range anatomy.Steps {
			if slices.Contains(strings.Fields(s.Params), anatomy.Param+"="+step.Word) && (steps[at] == nil || s.Work() > steps[at].Work()) {
				steps[at] = s
			}
		}
	}
	first := slices.IndexFunc(steps, func(s *stats.Summary) bool { return s != nil })
	if first < 0 {
		return nil, errors.New("no row is of a pass of the CPU backend: bench --config anatomy measures them")
	}
	of := steps[first]
	narrow := each.That(each.Pointers(stats.Best(d.asked)), func(s *stats.Summary) bool {
		return s.Kernel == of.Kernel && s.ISA == of.ISA && s.Size() == of.Size() && s.DtypeA != of.DtypeA
	})
	core, known := anatomy.CoreOf(of.ISA)
	r := &figure.Rows{Mark: of.PeakFLOPs, Series: []figure.Series{{Label: "the step before", Color: figure.SoftInk, Shape: 0}}}
	var before *stats.Summary
	var shown []*stats.Summary
	least, most, limit := math.Inf(1), of.PeakFLOPs, "not counted"
	for at, s := range append(steps, narrow...) {
		row := figure.Row{Color: figure.Ink, Text: "not measured"}
		if row.Label = fmt.Sprintf("%d %s", at+1, anatomy.Steps[min(at, anatomy.Threads)].Name); at > anatomy.Threads {
			row.Label = s.DtypeA + " operands"
		}
		if known && at <= anatomy.Threads { // narrow operands have that of the last step
			limit, _ = core.Count(at, of.M, of.K, of.N).Limit()
		}
		if s != nil && s.Size() == of.Size() {
			if shown, row.Text = append(shown, s), failureOf(s); usable(s) {
				row.Text, row.Points = "", []figure.RowPoint{{Series: limitSeries(r, limit), X: s.Rate.Median, Lo: s.Rate.Lo, Hi: s.Rate.Hi}}
				if before != nil {
					row.Text = figure.Digits(s.Rate.Median/before.Rate.Median) + "×  "
					row.Points = append([]figure.RowPoint{{X: before.Rate.Median}}, row.Points...)
				}
				row.Text += rateUnit(s.Rate.Median, s.RateOf()).Format(s.Rate.Median)
				row.Text = words.When(!s.Rate.Holds(), stats.Noisy) + row.Text + words.When(drawn(s.PercentOfPeak), "  %s %%", figure.Digits(s.PercentOfPeak.Median))
				if least, most = min(least, s.Rate.Median), max(most, s.Rate.Median); at <= anatomy.Threads { // narrow ones are held against the last step
					before = s
				}
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.Heading = headingOf(Request{Kind: q.Kind, Family: q.Family, Dtype: of.DtypeA}, fmt.Sprintf("The ladder inside a CPU: %s at %s", short(of.Kernel), of.Size()), shown[:len(shown)-len(narrow)], false, stats.Noisy+": ")
	r.Name = fileName(Request{Kind: q.Kind, Family: q.Family})
	r.Subtitle = []string{"each pass of the backend joins those above it; right: times the rate of the step before (of narrow operands: of threads), rate, % of the peak of its dtype"}
	unit := rateUnit(most, results.FLOPs)
	r.X = figure.Axis{Label: unit.Name + "; the line is the peak of " + of.DtypeA, Scale: figure.Log, Min: least / 1.6, Max: most * 1.6, Unit: unit}
	return []figure.Picture{r}, nil
}

// limitColor are the colours of what limits a pass.
var limitColor = map[string]color.NRGBA{"issue": figure.BluishGreen, "latency": figure.ReddishPurple, "L1": figure.SkyBlue,
	"L2": figure.Blue, "L3": figure.Orange, "memory": figure.Vermillion}

// limitSeries is the number of the series of a limit.
func limitSeries(r *figure.Rows, limit string) int {
	label := "limit by counts: " + limit
	at := slices.IndexFunc(r.Series, func(s figure.Series) bool { return s.Label == label })
	if at < 0 {
		at, r.Series = len(r.Series), append(r.Series, figure.Series{Label: label, Color: cmp.Or(limitColor[limit], figure.Ink), Shape: 1})
	}
	return at
}
