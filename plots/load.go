package plots

import (
	"fmt"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/stats"
)

// windowParts is into how many parts the picture of a window is cut.
const windowParts = 25

// loadPictures shows how a rate holds under load: against the time since the load began, for each
// kernel with its fastest blocks and each duty, at the size that most have.
func loadPictures(q Request, d data) ([]figure.Picture, error) {
	asked := each.That(stats.Best(d.asked), func(s stats.Summary) bool { return usable(&s) && s.Duty > 0 })
	if len(asked) == 0 {
		return nil, fmt.Errorf("no row of %s is of load over time: bench --duty 25,50,100 measures some", q.Dtype)
	}
	size := commonSize(asked, func(s *stats.Summary) string { return s.Kernel + s.LoadWord() })
	curves := curvesOf(each.That(asked, func(s stats.Summary) bool { return s.Size() == size }), false)
	ch := &figure.Chart{Heading: headingOf(q, "Rate under load, at "+size, sorted(curves), true, hollowWords), X: figure.Axis{Label: "seconds under load", Unit: plain}}
	looks := slots(curves)
	for i, label := range labels(curves, true) {
		s, sum := looks[i].series(label, curves[i]), curves[i].any()
		seconds, rates := sum.Course(windowParts)
		for j, e := range rates {
			if drawn(e) {
				s.Points = append(s.Points, pointOf(seconds[j], e))
			}
		}
		ch.X.Max = max(ch.X.Max, sum.WindowSeconds)
		ch.Series = append(ch.Series, s)
	}
	ch.Subtitle = append(ch.Subtitle, "medians over all windows; duty: for which part of the time the device was busy, by pauses between repetitions")
	fitRates(ch, asked[0].RateOf())
	return []figure.Picture{ch}, nil
}
