package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

func sizePictures(q Request, d data) ([]figure.Picture, error) {
	return rateCharts(q, q.Kernel, d.asked, true), nil
}

// kernelPictures has a chart of its own for each way of asking, full and causal attention for
// instance: all kernels in all ways are more lines than can be told apart.
func kernelPictures(q Request, d data) (list []figure.Picture, err error) {
	ways, asked := grouped(stats.Best(d.asked), func(s *stats.Summary) string { return s.Options })
	for _, way := range ways {
		if len(ways) == 1 || way == "" {
			list = append(list, rateCharts(q, "The kernels", asked[way], false)...)
			continue
		}
		for _, p := range rateCharts(q, "The kernels, "+way, asked[way], false) {
			p.Head().Name = figure.FileSafe(p.Head().Name + "_" + way)
			list = append(list, p)
		}
	}
	return list, nil
}

// rateCharts draws rate against size: square problems on a log2 axis, and all
// others, if there are any, on an axis of shapes in a chart of their own. With split, block
// shapes have lines as linesOf says, and the fastest where the sizes end is bold.
func rateCharts(q Request, title string, summaries []stats.Summary, split bool) []figure.Picture {
	return apart(summaries, func(part []stats.Summary) figure.Picture {
		curves, others, place := curvesOf(part, split), []stats.Summary(nil), xOf(part)
		shown := sorted(curves)
		if split && !q.AllBlocks {
			curves, others = linesOf(part, curves)
		}
		named := others != nil && !slices.ContainsFunc(curves, func(c *curve) bool { return c.kernel == q.Kernel && !c.single })
		ch := &figure.Chart{Heading: headingOf(q, title, shown, !split, hollowWords), X: sizeAxis(part)}
		ch.Roofs = roofsOf(part)
		looks := slots(curves)
		if others != nil {
			ch.Series = append(ch.Series, faint(q.Kernel, others, place))
		}
		for i, label := range labels(curves, q.Kind != Size) {
			s := looks[i].series(label, curves[i])
			s.Bold = named && curves[i].kernel == q.Kernel
			for size, sum := range curves[i].at {
				addRate(&s, place[size], sum)
				if at := len(s.Points) - 1; s.Bold && usable(sum) {
					s.Points[at].Label = choiceOf(sum).name()
				}
			}
			s.Sort()
			ch.Series = append(ch.Series, s)
		}
		if named {
			ch.Subtitle = append(ch.Subtitle, "the fastest block shape at each size, bm×bk×bn at its mark · faint: other block shapes, named by --blocks all")
		} else if split {
			emphasize(ch.Series[len(ch.Series)-len(curves):], curves)
		}
		fitRates(ch, part[0].RateOf())
		return ch
	})
}

// maxLines is how many block shapes have a line each.
const maxLines = 6

// linesOf chooses the lines of a kernel's block shapes, and returns them with the rest. A sweep of
// few shapes has a line for each, if the fastest of each size is on one of them: those
// at several sizes, and of many the fastest where the sizes end. Otherwise, as where the shapes
// follow from the size, there is one line, the fastest shape of each size.
func linesOf(part []stats.Summary, each []*curve) (lines []*curve, others []stats.Summary) {
	best := stats.Best(part)
	fixed := slices.DeleteFunc(slices.Clone(each), func(c *curve) bool { return !c.single && len(c.at) < 2 })
	largest := slices.MaxFunc(best, func(a, b stats.Summary) int { return results.CompareSizes(&a.Record, &b.Record) })
	last := func(c *curve) float64 {
		if s := c.at[largest.Size()]; s != nil && usable(s) {
			return s.Rate.Median
		}
		return 0
	}
	ranked := slices.DeleteFunc(slices.Clone(fixed), func(c *curve) bool { return c.single })
	slices.SortStableFunc(ranked, func(a, b *curve) int { return cmp.Compare(last(b), last(a)) })
	fixed = slices.DeleteFunc(fixed, func(c *curve) bool { return slices.Index(ranked, c) >= maxLines })
	on := func(lines []*curve, s *stats.Summary) bool {
		return slices.ContainsFunc(lines, func(c *curve) bool {
			o := c.at[s.Size()]
			return o != nil && o.Kernel == s.Kernel && lineID(&o.Record) == lineID(&s.Record) && choiceOf(o) == choiceOf(s)
		})
	}
	lines = fixed
	if slices.ContainsFunc(best, func(s stats.Summary) bool { return !on(fixed, &s) }) {
		lines = curvesOf(best, false)
	}
	for _, s := range part {
		if !on(lines, &s) {
			others = append(others, s)
		}
	}
	return lines, others
}

// faint are the marks of block shapes without a line, and how many of them failed at each size.
func faint(kernel string, others []stats.Summary, place map[string]float64) figure.Series {
	f := figure.Series{Label: "other block shapes", Color: figure.Shaded(kernelColor(kernel), -1), Faint: true}
	sizes, at := grouped(others, sizeOf)
	for _, size := range sizes {
		statuses, of := grouped(slices.DeleteFunc(at[size], func(s stats.Summary) bool {
			if usable(&s) {
				f.Points = append(f.Points, pointOf(place[size], s.Rate))
			}
			return usable(&s)
		}), failureOf)
		for i, status := range statuses {
			statuses[i] = fmt.Sprintf("%d× %s", len(of[status]), status)
		}
		if statuses != nil {
			f.Failures = append(f.Failures, figure.Failure{X: place[size], Status: strings.Join(statuses, ", "), Untried: true})
		}
	}
	f.Sort()
	return f
}

// emphasize makes the series bold that is fastest where the sizes end.
func emphasize(series []figure.Series, curves []*curve) {
	var best *figure.Series
	var at figure.Point
	rivals := 0
	for i := range series {
		s := &series[i]
		if len(s.Points) == 0 || curves[i].kernel == results.Baseline || s.Predicted {
			continue
		}
		rivals++
		last := s.Points[len(s.Points)-1]
		if best == nil || last.X > at.X || last.X == at.X && last.Y > at.Y {
			best, at = s, last
		}
	}
	if rivals > 1 {
		best.Bold = true
	}
}

// fitRates makes the y axis go from 0 to a little above the highest interval, points of low
// confidence apart, and above the peaks that are in view. Peaks are named by their rates.
func fitRates(ch *figure.Chart, of results.Unit) {
	var ends figure.Extent
	var peaks []float64
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			ends.Add(pt.Y, pt.Hi, pt.LowConfidence)
		}
	}
	for _, r := range ch.Roofs {
		peaks = append(peaks, r.Peak)
	}
	highest := ends.Top(peaks...)
	unit := rateUnit(highest, of)
	if highest == 0 {
		highest = unit.Value
	}
	ch.Y = figure.Axis{Label: unit.Name, Max: highest * 1.06, Unit: unit}
	for i := range ch.Roofs {
		ch.Roofs[i].Label += " " + unit.Format(ch.Roofs[i].Peak)
	}
}
