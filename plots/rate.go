package plots

import (
	"cmp"
	"math"
	"slices"

	"matladder/stats"

	"matladder/results"
)

func sizePictures(q Request, d data) ([]Picture, error) {
	return rateCharts(q, q.Kernel, d.asked, true), nil
}

// kernelPictures has a chart of its own for each way of asking, full and causal attention for
// instance: all kernels in all ways are more lines than can be told apart.
func kernelPictures(q Request, d data) ([]Picture, error) {
	asked := map[string][]stats.Summary{}
	var ways []string
	for _, s := range stats.Best(d.asked) {
		if asked[s.Options] == nil {
			ways = append(ways, s.Options)
		}
		asked[s.Options] = append(asked[s.Options], s)
	}
	var list []Picture
	for _, way := range ways {
		if len(ways) == 1 || way == "" {
			list = append(list, rateCharts(q, "The kernels", asked[way], false)...)
			continue
		}
		for _, p := range rateCharts(q, "The kernels, "+way, asked[way], false) {
			ch := p.(*Chart)
			ch.Name = fileSafe(ch.Name + "_" + way)
			list = append(list, ch)
		}
	}
	return list, nil
}

// rateCharts draws rate against size: square problems on a log2 axis, and all
// others, if there are any, on an axis of shapes in a chart of their own.
func rateCharts(q Request, title string, summaries []stats.Summary, split bool) []Picture {
	var list []Picture
	for i, part := range bySquare(summaries) {
		if len(part) == 0 {
			continue
		}
		ch := rateChart(q, title, part, split)
		if i == 0 {
			ch.X = squareAxis(part)
		} else {
			ch.Name += "_shapes"
			ch.X = shapeAxis(part)
		}
		list = append(list, ch)
		ch.Y = rateAxis(ch, summaries[0].RateOf())
		for i := range ch.Roofs {
			ch.Roofs[i].Label += " " + ch.Y.Unit.Format(ch.Roofs[i].Peak)
		}
	}
	return list
}

func rateChart(q Request, title string, summaries []stats.Summary, split bool) *Chart {
	curves := curvesOf(summaries, split)
	place := xOf(summaries)
	ch := &Chart{Heading: headingOf(q, title, sorted(curves), !split, hollow), Roofs: roofsOf(summaries)}
	names := labels(curves, q.Kind != Size)
	looks := slots(curves)
	for i, c := range curves {
		s := Series{Label: names[i], Kernel: c.kernel, Shade: looks[i].shade(), Shape: looks[i].shape,
			Predicted: c.any().Mode == results.Predicted}
		for size, sum := range c.at {
			s.add(place[size], sum)
		}
		s.sort()
		ch.Series = append(ch.Series, s)
	}
	if split {
		ch.emphasize()
	}
	return ch
}

// add puts the rate of a summary at x, or why it has none.
func (s *Series) add(x float64, sum *stats.Summary) {
	if rate := sum.Rate; usable(sum) {
		s.Points = append(s.Points, Point{X: x, Y: rate.Median, Lo: rate.Lo, Hi: rate.Hi, Rough: !rate.Holds()})
	} else {
		s.Failures = append(s.Failures, Failure{x, failureOf(sum)})
	}
}

// sort brings points and failures into the order of the axis.
func (s *Series) sort() {
	slices.SortFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	slices.SortFunc(s.Failures, func(a, b Failure) int { return cmp.Compare(a.X, b.X) })
}

// emphasize makes the series bold that is fastest where the sizes end.
func (ch *Chart) emphasize() {
	var best *Series
	var at Point
	rivals := 0
	for i := range ch.Series {
		s := &ch.Series[i]
		if len(s.Points) == 0 || s.Kernel == results.Baseline || s.Predicted {
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

// square reports whether all sizes of a problem are equal: it has a place on an axis of
// numbers.
func square(s *stats.Summary) bool {
	_, ok := s.Square()
	return ok
}

// usable reports whether a summary has a rate to draw.
func usable(s *stats.Summary) bool {
	return s.Status == results.OK && drawn(s.Rate)
}

// drawn reports whether an estimate is there and has a place on an axis.
func drawn(e stats.Estimate) bool {
	return e.Known() && drawable(e.Median) && drawable(e.Lo) && drawable(e.Hi)
}

// drawable bounds what may become a place on an axis: far beyond any machine,
// and near enough that margins and ratios do not overflow.
func drawable(v float64) bool { return v > 1e-30 && v < 1e30 }

// failureOf says in a word why a summary has no rate.
func failureOf(s *stats.Summary) string {
	if s.Status == results.OK {
		return "no rate"
	}
	return string(s.Status)
}

// xOf places sizes: square ones at their length, others at 0, 1, 2 … in the
// order of what a launch does.
func xOf(summaries []stats.Summary) map[string]float64 {
	place := map[string]float64{}
	for i, t := range shapeAxis(summaries).Ticks {
		place[t.Label] = float64(i)
	}
	for i := range summaries {
		if n, ok := summaries[i].Square(); ok {
			place[summaries[i].Size()] = float64(n)
		}
	}
	return place
}

// squareAxis is a log2 axis with a tick at each size of square problems. Labels of powers of two
// outlast others where there is no room for all.
func squareAxis(summaries []stats.Summary) Axis {
	var ticks []Tick
	for i := range summaries {
		n, _ := summaries[i].Square()
		ticks = append(ticks, Tick{Value: float64(n), Label: summaries[i].Size()})
	}
	return powersAxis("size ("+summaries[0].SizeNames(" = ")+")", ticks)
}

// powersAxis is a log2 axis with these ticks.
func powersAxis(label string, ticks []Tick) Axis {
	ax := Axis{Label: label, Scale: Log}
	for _, t := range ticks {
		n := int(t.Value)
		for n%2 == 0 && t.Rank > -30 {
			n, t.Rank = n/2, t.Rank-1
		}
		t.Rank += 100 * (n / 2) // odd part 1 first
		if !slices.ContainsFunc(ax.Ticks, func(o Tick) bool { return o.Value == t.Value }) {
			ax.Ticks = append(ax.Ticks, t)
		}
	}
	slices.SortFunc(ax.Ticks, func(a, b Tick) int { return cmp.Compare(a.Value, b.Value) })
	first, last := ax.Ticks[0].Value, ax.Ticks[len(ax.Ticks)-1].Value
	if first == last {
		ax.Min, ax.Max = first/2, last*2
		return ax
	}
	air := math.Pow(last/first, 0.03)
	ax.Min, ax.Max = first/air, last*air
	return ax
}

// shapeAxis is an axis of categories, by what a launch does.
func shapeAxis(summaries []stats.Summary) Axis {
	ax := Axis{Label: "shape (" + summaries[0].SizeNames("×") + ")", Scale: Category}
	sorted := slices.Clone(summaries)
	slices.SortStableFunc(sorted, func(a, b stats.Summary) int {
		return results.CompareSizes(&a.Record, &b.Record)
	})
	for i := range sorted {
		label := sorted[i].Size()
		if !slices.ContainsFunc(ax.Ticks, func(t Tick) bool { return t.Label == label }) { // causal or not, a shape is one
			ax.Ticks = append(ax.Ticks, Tick{Value: float64(len(ax.Ticks)), Label: label})
		}
	}
	ax.Min, ax.Max = -0.5, float64(len(ax.Ticks))-0.5
	return ax
}

// peakInView is how far above the fastest curve a peak may be before it would
// press all curves to the floor; then it is only named.
const peakInView = 3

// rateAxis goes from 0 to a little above the highest interval of a point that can be
// relied on, and above the peaks that are in view.
func rateAxis(ch *Chart, of results.Unit) Axis {
	top, rough := 0.0, 0.0
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			if pt.Rough {
				rough = math.Max(rough, pt.Y)
			} else {
				top = math.Max(top, pt.Hi)
			}
		}
	}
	top = cmp.Or(top, rough)
	highest := top
	for _, r := range ch.Roofs {
		if top == 0 || r.Peak <= peakInView*top {
			highest = math.Max(highest, r.Peak)
		}
	}
	unit := rateUnit(highest, of)
	if highest == 0 {
		highest = unit.Value
	}
	return Axis{Label: unit.Name, Scale: Linear, Min: 0, Max: highest * 1.06, Unit: unit}
}
