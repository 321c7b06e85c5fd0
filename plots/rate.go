package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
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
	ways, asked := each.Grouped(stats.Best(d.asked), func(s *stats.Summary) string { return s.Options })
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
		ch := &figure.Chart{Heading: headingOf(q, title, sorted(curves), !split, hollowWords), X: sizeAxis(part), Roofs: roofsOf(part)}
		ranked := byLast(curves)
		if split && !q.AllBlocks {
			curves, others = linesOf(part, curves, ranked)
		}
		if others != nil {
			ch.Series = append(ch.Series, faint(q.Kernel, others, place))
		}
		best := split && !q.AllBlocks && q.Kernel != results.Baseline && !slices.ContainsFunc(curves, func(c *curve) bool { return !c.single })
		own := slices.DeleteFunc(sorted(curves), func(s *stats.Summary) bool { return s.Kernel != q.Kernel || choiceOf(s).volume() == 0 })
		looks, shapes := slots(curves), distinct(own, func(s **stats.Summary) string { return choiceOf(*s).name() })
		for i, label := range labels(curves, q.Kind != Size) {
			s, c := looks[i].series(label, curves[i]), curves[i]
			s.Bold = best && c.kernel == q.Kernel || split && len(ranked) > 1 && c == ranked[0]
			for size, x := range place {
				if sum := c.at[size]; sum == nil {
					s.Missing = append(s.Missing, x)
				} else if addRate(&s, x, sum); best && s.Bold && usable(sum) && len(shapes) > 1 {
					s.Points[len(s.Points)-1].Label = choiceOf(sum).name()
				}
			}
			s.Sort()
			ch.Series = append(ch.Series, s)
		}
		if best && len(shapes) > 1 {
			ch.Subtitle = append(ch.Subtitle, "the fastest block shape at each size, bm×bk×bn at its mark")
		} else if best && len(shapes) == 1 {
			ch.Subtitle = append(ch.Subtitle, "at each size: "+shapes[0])
		}
		if others != nil {
			ch.Subtitle = append(ch.Subtitle, "faint: other block shapes, named by --blocks all")
		}
		fitRates(ch, part[0].RateOf())
		return ch
	})
}

// maxLines is how many block shapes have a line each.
const maxLines = 6

// byLast are the curves of a block shape at several sizes, the fastest where sizes end first.
func byLast(curves []*curve) []*curve {
	last := func(c *curve) *stats.Summary {
		return slices.MaxFunc(sorted([]*curve{c}), func(a, b *stats.Summary) int { return results.CompareSizes(&a.Record, &b.Record) })
	}
	ranked := each.That(curves, func(c *curve) bool { return !c.single && len(c.at) > 1 })
	slices.SortStableFunc(ranked, func(a, b *curve) int {
		return cmp.Or(cmp.Compare(last(b).Work(), last(a).Work()), cmp.Compare(last(b).Rate.Median, last(a).Rate.Median))
	})
	return ranked
}

// linesOf chooses the lines of a kernel's block shapes, and returns them with the rest. A sweep of
// few shapes has a line for each that lasts, the first of ranked, if the fastest of each size is on
// one of them. Otherwise, as where the shapes follow from the size, there is one line, the
// fastest shape of each size.
func linesOf(part []stats.Summary, curves, ranked []*curve) (lines []*curve, others []stats.Summary) {
	ranked = ranked[:min(maxLines, len(ranked))]
	lines = each.That(curves, func(c *curve) bool { return c.single || slices.Contains(ranked, c) })
	elsewhere := func(s stats.Summary) bool { // on none of the lines
		return !slices.ContainsFunc(lines, func(c *curve) bool {
			o := c.at[s.Size()]
			return o != nil && o.Kernel == s.Kernel && lineID(&o.Record) == lineID(&s.Record) && choiceOf(o) == choiceOf(&s)
		})
	}
	best := stats.Best(part)
	if slices.ContainsFunc(best, elsewhere) {
		lines = curvesOf(best, false)
	}
	return lines, each.That(part, elsewhere)
}

// faint are the marks of block shapes without a line, and how many of them failed at each size.
func faint(kernel string, others []stats.Summary, place map[string]float64) figure.Series {
	f := figure.Series{Label: "other block shapes", Color: figure.Shaded(kernelColor(kernel), -1), Faint: true}
	sizes, at := each.Grouped(others, sizeOf)
	for _, size := range sizes {
		failed := slices.DeleteFunc(at[size], func(s stats.Summary) bool {
			if usable(&s) {
				f.Points = append(f.Points, pointOf(place[size], s.Rate))
			}
			return usable(&s)
		})
		if statuses, of := each.Grouped(failed, failureOf); statuses != nil {
			for i, status := range statuses {
				statuses[i] = fmt.Sprintf("%d× %s", len(of[status]), status)
			}
			f.Failures = append(f.Failures, figure.Failure{X: place[size], Status: strings.Join(statuses, ", "), Untried: true})
		}
	}
	f.Sort()
	return f
}

// fitRates makes the y axis go from 0 to a little above the highest interval, points of low
// confidence apart, and above the peaks that are in view. Peaks are named by their rates.
func fitRates(ch *figure.Chart, of results.Unit) {
	var ends figure.Extent
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			ends.Add(pt.Y, pt.Hi, pt.LowConfidence)
		}
	}
	highest := ends.Top(each.Of(ch.Roofs, func(r figure.Roof) float64 { return r.Peak })...)
	unit := rateUnit(highest, of)
	ch.Y = figure.Axis{Label: unit.Name, Max: cmp.Or(highest, unit.Value) * 1.06, Unit: unit}
	for i := range ch.Roofs {
		ch.Roofs[i].Label += " " + unit.Format(ch.Roofs[i].Peak)
	}
}
