package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// ladderPictures shows the steps of the ladder: how much of the peak each kernel reaches, beside
// the baseline, and how many times it is as fast as the rung below. Square problems and others
// have a picture each, of one size; several machines share one that shows % of peak alone.
func ladderPictures(q Request, d data) ([]figure.Picture, error) {
	if len(distinct(d.asked, machineOf)) > 1 {
		return []figure.Picture{machineRows(q, d.asked)}, nil
	}
	return apart(stats.Best(d.asked), func(part []stats.Summary) figure.Picture { return ladderBars(q, part) }), nil
}

// running are the summaries of kernels that have a rate.
func running(summaries []stats.Summary) []stats.Summary {
	return slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return !usable(&s) || s.Kernel == results.Baseline })
}

// ladderBars is of the largest size that most kernels ran at.
func ladderBars(q Request, summaries []stats.Summary) *figure.Bars {
	size := cmp.Or(commonSize(running(summaries), func(s *stats.Summary) string { return s.Kernel }), summaries[0].Size())
	curves := curvesOf(slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return s.Size() != size }), false)
	first := slices.IndexFunc(curves, func(c *curve) bool { return c.kernel != results.Baseline })
	baselines, kernels := curves[:max(first, 0)], curves[max(first, 0):]
	names := labels(curves, true)
	b := &figure.Bars{Heading: headingOf(q, "The ladder at "+size, sorted(curves), false, hollowWords), X: figure.Categories("", names[len(baselines):]), Alone: true}
	b.Subtitle = append(b.Subtitle, "each kernel with its fastest block shape, at the largest size that most ran at")
	over := figure.BarPanel{Y: figure.Axis{Label: "times the rate of the rung below" + paired(sorted(curves)), Scale: figure.Log, Unit: times}, Mark: 1}
	peak := figure.BarPanel{Y: figure.Axis{Label: "% of " + roofOf(q, &summaries[0]), Unit: percent}, Mark: 100}
	for g, c := range kernels {
		s, bar := c.any(), figure.Bar{Group: g, Series: g}
		b.Series = append(b.Series, figure.BarSeries{Color: kernelColor(c.kernel), Predicted: s.Mode == results.Predicted})
		switch {
		case usable(s) && drawn(s.PercentOfPeak):
			bar = valueBar(bar, s.PercentOfPeak, " %")
		case usable(s):
			bar.Status = "no " + s.RoofName()
		default:
			bar.Status = failureOf(s)
		}
		peak.Bars = append(peak.Bars, bar)
		if usable(s) && drawn(s.OverBelow) {
			over.Bars = append(over.Bars, valueBar(bar, s.OverBelow, "×"))
		}
	}
	for i, c := range baselines { // last: their lines are drawn over the bars
		if s := c.any(); usable(s) && drawn(s.PercentOfPeak) {
			b.Series = append(b.Series, figure.BarSeries{Label: names[i], Color: figure.Black, Predicted: s.Mode == results.Predicted, Level: true})
			for g := range kernels {
				peak.Bars = append(peak.Bars, valueBar(figure.Bar{Group: g, Series: len(b.Series) - 1}, s.PercentOfPeak, ""))
			}
		}
	}
	b.Add(peak)
	b.Add(over)
	return b
}

func valueBar(b figure.Bar, e stats.Estimate, unit string) figure.Bar {
	b.Y, b.Lo, b.Hi, b.Status, b.LowConfidence = e.Median, e.Lo, e.Hi, "", !e.Holds()
	b.Label = words.When(b.LowConfidence, stats.Noisy) + figure.Digits(e.Median) + unit
	return b
}

// An origin is where rows were measured, or predicted for.
type origin struct{ host, chip string }

func machineOf(s *stats.Summary) origin { return origin{s.Host, cmp.Or(s.Chip, s.Device)} }

// machineRows is the ladder of many machines: a row for each, with the % of its
// peak that each kernel reaches at the largest size that most machines have.
func machineRows(q Request, summaries []stats.Summary) *figure.Rows {
	best := stats.Best(summaries)
	size := cmp.Or(commonSize(running(best), machineOf), best[0].Size())
	r := &figure.Rows{Mark: 100}
	has := func(s *stats.Summary) bool { return s.Size() == size && usable(s) && drawn(s.PercentOfPeak) }
	inOrder := slices.Clone(best)
	slices.SortStableFunc(inOrder, func(a, b stats.Summary) int { return stats.CompareKernels(a.Kernel, b.Kernel) })
	for i := range inOrder {
		if has(&inOrder[i]) {
			seriesIn(r, &inOrder[i])
		}
	}
	var shown []*stats.Summary
	tops, top := map[string]float64{}, 100.0
	machines, of := each.Grouped(best, machineOf)
	for _, m := range machines {
		device, peak := m.chip, 0.0
		points := map[int]*stats.Summary{}
		for i := range of[m] {
			s := &of[m][i]
			if s.Kernel != results.Baseline || peak == 0 {
				device, peak = deviceOf(&s.Record), s.Roof()
			}
			if !has(s) {
				continue
			}
			if at := seriesIn(r, s); points[at] == nil || s.Rate.Median > points[at].Rate.Median {
				points[at] = s
			}
		}
		line := figure.Row{Label: words.Between("", m.host, " · ") + device, Color: figure.Ink, Text: best[0].RoofName() + " " + rateUnit(peak, best[0].RateOf()).Format(peak)}
		switch {
		case peak == 0:
			line.Text = "no " + best[0].RoofName() + " known"
		case len(points) == 0:
			line.Text = "nothing ok at " + size
		}
		for at, s := range points {
			e := s.PercentOfPeak
			line.Points = append(line.Points, figure.RowPoint{Series: at, X: e.Median, Lo: e.Lo, Hi: e.Hi})
			shown = append(shown, s)
			top = math.Max(top, e.Median)
			if s.Kernel != results.Baseline {
				tops[line.Label] = math.Max(tops[line.Label], e.Median)
			}
		}
		slices.SortFunc(line.Points, func(a, b figure.RowPoint) int { return cmp.Compare(a.Series, b.Series) })
		r.Rows = append(r.Rows, line)
	}
	slices.SortStableFunc(r.Rows, func(a, b figure.Row) int { return cmp.Compare(tops[b.Label], tops[a.Label]) })
	slices.SortFunc(shown, compareRows)
	if len(shown) == 0 {
		shown = append(shown, &best[0])
	}
	r.Heading = headingOf(q, fmt.Sprintf("The ladder on %d machines, size %s", len(machines), size), shown, true, "")
	r.Name = fileName(Request{Kind: "ladder_machines", Family: q.Family, Dtype: q.Dtype})
	r.X = figure.Between("% of the machine's own "+roofOf(q, &best[0]), 0, top*1.03, percent)
	return r
}

// seriesIn returns the index of the series that a summary belongs to: its kernel in its mode.
func seriesIn(r *figure.Rows, s *stats.Summary) int {
	look := seriesOf(s.Kernel, s.Mode, "")
	if at := slices.IndexFunc(r.Series, func(o figure.Series) bool { return o.Label == look.Label }); at >= 0 {
		return at
	}
	r.Series = append(r.Series, look)
	return len(r.Series) - 1
}

// commonSize returns the largest size that most keys have, such as machines; "" of none.
func commonSize[K comparable](summaries []stats.Summary, key func(*stats.Summary) K) string {
	sizes, of := each.Grouped(summaries, sizeOf)
	if sizes == nil {
		return ""
	}
	return slices.MaxFunc(sizes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(distinct(of[a], key)), len(distinct(of[b], key))), cmp.Compare(of[a][0].Work(), of[b][0].Work()), cmp.Compare(a, b))
	})
}
