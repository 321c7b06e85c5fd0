package plots

import (
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
// others, if there are any, on an axis of shapes in a chart of their own. With split, each
// choice of blocks has a line, and the fastest where the sizes end is bold.
func rateCharts(q Request, title string, summaries []stats.Summary, split bool) []figure.Picture {
	return apart(summaries, func(part []stats.Summary) figure.Picture {
		curves, place := curvesOf(part, split), xOf(part)
		ch := &figure.Chart{Heading: headingOf(q, title, sorted(curves), !split, hollowWords), X: sizeAxis(part)}
		ch.Roofs, _ = roofsOf(part)
		looks := slots(curves)
		for i, label := range labels(curves, q.Kind != Size) {
			s := looks[i].series(label, curves[i])
			for size, sum := range curves[i].at {
				addRate(&s, place[size], sum)
			}
			s.Sort()
			ch.Series = append(ch.Series, s)
		}
		if split {
			emphasize(ch.Series, curves)
		}
		fitRates(ch, part[0].RateOf())
		return ch
	})
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
