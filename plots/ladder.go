package plots

import (
	"cmp"
	"math"
	"slices"

	"matladder/stats"

	"matladder/results"
)

// ladderPictures shows the steps of the ladder: how many times each kernel is as
// fast as the rung below, and how much of the peak it reaches, beside the
// baseline. Square problems and others have a picture each; several machines
// share one that shows % of peak alone.
func ladderPictures(q Request, d data) ([]Picture, error) {
	if len(machinesOf(d.asked)) > 1 {
		return []Picture{machineRows(q, d.asked)}, nil
	}
	var list []Picture
	for i, group := range bySquare(stats.Best(d.asked)) {
		if len(group) == 0 {
			continue
		}
		b := ladderBars(q, group)
		if i == 1 {
			b.Name += "_shapes"
		}
		list = append(list, b)
	}
	return list, nil
}

// bySquare parts the summaries of square problems from the others.
func bySquare(summaries []stats.Summary) (parts [2][]stats.Summary) {
	for _, s := range summaries {
		if square(&s) {
			parts[0] = append(parts[0], s)
		} else {
			parts[1] = append(parts[1], s)
		}
	}
	return parts
}

func ladderBars(q Request, summaries []stats.Summary) *Bars {
	curves := curvesOf(summaries, false)
	b := &Bars{Heading: headingOf(q, "The ladder", sorted(curves), true, hollow), X: categories(summaries)}
	over := BarPanel{Y: Axis{Label: "times the rate of the rung below" + paired(sorted(curves)), Unit: Unit{"×", 1}}, Mark: 1}
	peak := BarPanel{Y: Axis{Label: "% of " + roofOf(q, &summaries[0]), Unit: Unit{"%", 1}}, Mark: 100}
	looks := slots(curves)
	// The baseline, in black, stands last: its line is drawn over the bars.
	order := make([]int, len(curves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(rank(curves[i].kernel == results.Baseline), rank(curves[j].kernel == results.Baseline))
	})
	names := labels(curves, true)
	for _, i := range order {
		c := curves[i]
		at := len(b.Series)
		baseline := c.kernel == results.Baseline && len(curves) > 1
		b.Series = append(b.Series, BarSeries{names[i], c.kernel, looks[i].shade(), c.any().Mode == results.Predicted, baseline})
		for g, t := range b.X.Ticks {
			s := c.at[t.Label]
			if s == nil {
				continue
			}
			bar := Bar{Group: g, Series: at}
			if !usable(s) || !drawn(s.PercentOfPeak) {
				bar.Status = failureOf(s)
				if usable(s) {
					bar.Status = "no " + s.RoofName()
				}
				peak.Bars = append(peak.Bars, bar)
			} else {
				peak.Bars = append(peak.Bars, valueBar(bar, s.PercentOfPeak, ""))
			}
			if usable(s) && drawn(s.OverBelow) {
				over.Bars = append(over.Bars, valueBar(bar, s.OverBelow, "×"))
			}
		}
	}
	for _, p := range []BarPanel{peak, over} {
		if len(p.Bars) > 0 {
			p.fit()
			b.Panels = append(b.Panels, p)
		}
	}
	return b
}

// roofOf names what rates are held against.
func roofOf(q Request, s *stats.Summary) string {
	if s.Figure == results.PerBytes {
		return s.RoofName()
	}
	return q.Dtype + " peak"
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func valueBar(b Bar, e stats.Estimate, unit string) Bar {
	b.Y, b.Lo, b.Hi, b.Label, b.Status = e.Median, e.Lo, e.Hi, digits(e.Median)+unit, ""
	if b.Rough = !e.Holds(); b.Rough {
		b.Label = "~" + b.Label
	}
	return b
}

// categories is an axis with equal steps for the sizes, by FLOPs.
func categories(summaries []stats.Summary) Axis {
	ax := shapeAxis(summaries)
	if !slices.ContainsFunc(summaries, func(s stats.Summary) bool { return !square(&s) }) {
		ax.Label = "size (" + summaries[0].SizeNames(" = ") + ")"
	}
	return ax
}

// fit makes the axis reach above every bar that can be relied on, and its label; others
// end where the axis does. A peak far above all
// is not drawn.
func (p *BarPanel) fit() {
	top, rough := 0.0, 0.0
	for _, bar := range p.Bars {
		if bar.Rough {
			rough = math.Max(rough, bar.Y)
		} else {
			top = math.Max(top, math.Max(bar.Y, bar.Hi))
		}
	}
	top = cmp.Or(top, rough, p.Mark)
	if p.Mark <= peakInView*top {
		top = math.Max(top, p.Mark)
	}
	p.Y.Max = top * 1.22
}
