package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// inputsPictures shows what a rate owes to the numbers in the operands: each kernel with the
// blocks that are its fastest on uniform ones, at the size that has most kinds of inputs.
func inputsPictures(q Request, d data) ([]figure.Picture, error) {
	asked := each.That(d.asked, func(s stats.Summary) bool { return usable(&s) && s.Dist != "" })
	size := commonSize(asked, func(s *stats.Summary) string { return s.Dist })
	asked = each.That(asked, func(s stats.Summary) bool { return s.Size() == size })
	inputs := distinct(asked, func(s *stats.Summary) string { return s.Dist })
	if len(inputs) < 2 {
		return nil, fmt.Errorf("no row of %s is of other inputs than the rest: bench --config inputs measures some", q.Dtype)
	}
	slices.SortFunc(inputs, results.CompareInputs)
	return []figure.Picture{inputsPanels(q, size, asked, inputs)}, nil
}

func inputsPanels(q Request, size string, asked []stats.Summary, inputs []string) *figure.Panels {
	var shown []*stats.Summary
	base := inputs[len(inputs)-1]
	x := figure.Categories("inputs", inputs)
	rate := figure.Panel{Title: "rate", X: x, Mark: 1}
	power, perJoule := figure.Panel{Title: "power", X: x}, figure.Panel{Title: "work", X: x}
	curves := curvesOf(stats.Best(each.That(asked, func(s stats.Summary) bool { return s.Dist == base })), false)
	looks, names := slots(curves), labels(curves, true)
	for i, c := range curves {
		fastest := c.any()
		rates := looks[i].series(fmt.Sprintf("%s, %s at 1", names[i], rateUnit(fastest.Rate.Median, fastest.RateOf()).Format(fastest.Rate.Median)), c)
		watts, work := rates, rates
		for j := range asked {
			s := &asked[j]
			like := s.Record
			if like.Dist = base; s.Kernel != c.kernel || choiceOf(s) != choiceOf(fastest) || lineID(&like) != lineID(&fastest.Record) {
				continue
			}
			shown = append(shown, s)
			at, e := float64(slices.Index(inputs, s.Dist)), s.Against(fastest)
			if drawn(e) {
				rates.Points = append(rates.Points, pointOf(at, e))
			}
			for to, v := range map[*figure.Series]float64{&watts: s.Energy.Watts, &work: s.WorkPerJoule()} {
				if drawable(v) {
					to.Points = append(to.Points, figure.Point{X: at, Y: v, Lo: v, Hi: v, LowConfidence: s.LowConfidence})
				}
			}
		}
		rate.Add(rates)
		power.Add(watts)
		perJoule.Add(work)
	}
	p := &figure.Panels{Heading: headingOf(q, "What inputs do to a rate, at "+size, shown, false, hollowWords)}
	p.Subtitle = append(p.Subtitle, "from left to right more bits change; bits:4 keeps 4 explicit bits of each mantissa, sparse:50 has 50 % zeros")
	unit := strings.TrimSuffix(asked[0].RateOf().PerSecond(), "/s") + "/J"
	for _, row := range []struct {
		figure.Panel
		label string
		unit  figure.Unit
	}{{rate, "times the rate on " + base + " inputs, paired by round", times}, {power, "W, of packages or GPU", plain}, {perJoule, "G" + unit, figure.Unit{Name: "G" + unit, Value: 1e9}}} {
		if len(row.Series) > 0 {
			p.Rows = append(p.Rows, []figure.Panel{fitted(row.Panel, row.label, row.unit)})
		}
	}
	return p
}

// fitted gives a panel an axis round its points, which need not start at 0.
func fitted(p figure.Panel, label string, u figure.Unit) figure.Panel {
	least, most := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, pt := range s.Points {
			least, most = math.Min(least, pt.Lo), math.Max(most, pt.Hi)
		}
	}
	air := cmp.Or((most-least)*0.08, most*0.1)
	p.Y = figure.Between(label, least-air, most+air, u)
	return p
}
