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
	// A line is what differs in its inputs alone, and in its blocks.
	lines, of := grouped(asked, func(s *stats.Summary) string {
		r := s.Record
		r.Dist = ""
		return s.Kernel + lineID(&r)
	})
	var curves []*curve
	for _, line := range lines {
		first := of[line][0]
		first.Dist = ""
		curves = append(curves, &curve{kernel: first.Kernel, single: true, at: map[string]*stats.Summary{size: &first}})
	}
	order := slices.Clone(curves)
	slices.SortFunc(order, compareCurves)
	var shown []*stats.Summary
	base := inputs[len(inputs)-1]
	x := figure.Categories("inputs", inputs)
	rate := figure.Panel{Title: "rate", X: x, Mark: 1}
	power, perJoule := figure.Panel{Title: "power", X: x}, figure.Panel{Title: "work", X: x}
	looks, names := slots(order), labels(order, true)
	for i, c := range order {
		list := of[lines[slices.Index(curves, c)]]
		onBase := each.That(list, func(s stats.Summary) bool { return s.Dist == base })
		if len(onBase) == 0 {
			continue
		}
		fastest := slices.MaxFunc(onBase, func(a, b stats.Summary) int { return cmp.Compare(a.Rate.Median, b.Rate.Median) })
		name := fmt.Sprintf("%s, %s at 1", names[i], rateUnit(fastest.Rate.Median, fastest.RateOf()).Format(fastest.Rate.Median))
		rates := looks[i].series(name, c)
		watts, work := rates, rates
		for j := range list {
			if choiceOf(&list[j]) != choiceOf(&fastest) {
				continue
			}
			shown = append(shown, &list[j])
			if e := list[j].Against(&fastest); drawn(e) {
				at := float64(slices.Index(inputs, list[j].Dist))
				rates.Points = append(rates.Points, pointOf(at, e))
				for to, v := range map[*figure.Series]float64{&watts: list[j].Energy.Watts, &work: list[j].WorkPerJoule()} {
					if drawable(v) {
						to.Points = append(to.Points, figure.Point{X: at, Y: v, Lo: v, Hi: v, LowConfidence: list[j].LowConfidence})
					}
				}
			}
		}
		rate.Add(rates)
		power.Add(watts)
		perJoule.Add(work)
	}
	p := &figure.Panels{Heading: headingOf(q, "What inputs do to a rate, at "+size, shown, false, hollowWords)}
	p.Rows = append(p.Rows, []figure.Panel{fitted(rate, "times the rate on "+base+" inputs, paired by round", times)})
	if len(power.Series) > 0 {
		p.Rows = append(p.Rows, []figure.Panel{fitted(power, "W, of packages or GPU", plain)})
	}
	if len(perJoule.Series) > 0 {
		unit := strings.TrimSuffix(asked[0].RateOf().PerSecond(), "/s") + "/J"
		p.Rows = append(p.Rows, []figure.Panel{fitted(perJoule, "G"+unit, figure.Unit{Name: "G" + unit, Value: 1e9})})
	}
	p.Subtitle = append(p.Subtitle, "from left to right more bits change; bits:4 keeps 4 explicit bits of each mantissa, sparse:50 has 50 % zeros")
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
