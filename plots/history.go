package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// mostSeries is how many points a picture of a history shows.
const mostSeries = 60

// History draws the rate of each point by run, with its levels and the changes between them:
// those that changed first. Points without two runs to compare are left out, unless all are.
func History(series []stats.Series) (figure.Picture, error) {
	changed := func(s stats.Series) int { return min(len(s.Starts), 1) }
	list := each.That(series, func(s stats.Series) bool {
		return len(each.That(s.Seconds, func(seconds float64) bool { return seconds > 0 })) > 1
	})
	if len(list) == 0 { // as in the first run of a job
		list = slices.Clone(series)
	}
	slices.SortStableFunc(list, func(a, b stats.Series) int { return cmp.Compare(changed(b), changed(a)) })
	list = list[:min(len(list), mostSeries)]
	all := slices.Concat(each.Of(list, func(s stats.Series) []*stats.Summary { return s.Runs })...)
	p := &figure.Panels{Heading: headingOf(Request{Kind: "history"}, "History", all, false, "")}
	p.Name = "history"
	p.Footer = slices.DeleteFunc(p.Footer, func(line string) bool { return strings.HasPrefix(line, "medians") })
	p.Subtitle = []string{"the rate of each run (the 20th percentile of its times) over that of the first level; a hollow mark is left out, as too few samples were quiet"}
	if n := len(series) - len(list); n > 0 {
		p.Subtitle = append(p.Subtitle, fmt.Sprintf("%d more points are not shown", n))
	}
	records := each.Of(list, func(s stats.Series) *results.Record { return &s.Record })
	for row := range slices.Chunk(list, 2) {
		panels := make([]figure.Panel, len(row))
		least, most := 0.95, 1.05
		for i, s := range row {
			panels[i] = historyPanel(s, pointName(&s.Record, records))
			for _, line := range panels[i].Series {
				for _, pt := range line.Points {
					if !pt.LowConfidence {
						least, most = math.Min(least, pt.Y), math.Max(most, pt.Y)
					}
				}
			}
		}
		for i := range panels {
			panels[i].Y = figure.Between("rate", math.Max(0, least-0.02), most+0.02, times)
		}
		p.Rows = append(p.Rows, panels)
	}
	return p, nil
}

// pointName names a series by whatever it differs in from the others.
func pointName(s *results.Record, all []*results.Record) string {
	parts := []string{s.Kernel, s.Blocks(), s.Params, s.Size()}
	for _, f := range facets {
		if f.name != "version" && f.differ(all) {
			parts = append(parts, f.of(s))
		}
	}
	return words.Joined(" ", parts...)
}

// started is the day of a run.
func started(s *stats.Summary) string { return s.StartedAt.Format("01-02") }

func historyPanel(s stats.Series, title string) figure.Panel {
	color := kernelColor(s.Kernel)
	runs := figure.Series{Label: "a run", Color: color, Faint: true}
	levels := figure.Series{Label: "a level", Color: figure.TextColor(color), Shape: 1}
	changes := figure.Series{Label: "a change", Color: figure.Vermillion, Shape: 2}
	first := s.Changes[0].NewSeconds
	if len(s.Starts) > 0 {
		first = s.Changes[0].OldSeconds
	}
	at := func(run int, seconds float64, hollow bool) figure.Point {
		y := first / seconds
		return figure.Point{X: float64(run), Y: y, Lo: y, Hi: y, LowConfidence: hollow}
	}
	x := figure.Axis{Label: "run", Min: -0.7, Max: float64(len(s.Runs)) - 0.3}
	for i, r := range s.Runs {
		x.Ticks = append(x.Ticks, figure.Tick{Value: float64(i), Label: started(r)})
		if pt := at(i, cmp.Or(s.Seconds[i], r.Time.Median), s.Seconds[i] == 0); drawable(pt.Y) {
			runs.Points = append(runs.Points, pt)
		} else {
			runs.Failures = append(runs.Failures, failed(float64(i), r))
		}
	}
	bounds := append(append([]int{0}, s.Starts...), len(s.Runs))
	for i, start := range s.Starts {
		c := s.Changes[i]
		levels.Points = append(levels.Points, at(max(bounds[i], start-stats.NearRuns), c.OldSeconds, false), at(start-1, c.OldSeconds, false),
			at(start, c.NewSeconds, false), at(min(bounds[i+2], start+stats.NearRuns)-1, c.NewSeconds, false))
		levels.Missing, changes.Missing = append(levels.Missing, float64(start)-0.5), append(changes.Missing, float64(start)-0.5)
		changes.Points = append(changes.Points, at(start, c.NewSeconds, false))
		if i == len(s.Starts)-1 {
			title += fmt.Sprintf(", %s× %s", words.Figure(c.Ratio.Median), started(c.New))
		}
	}
	if len(s.Starts) == 0 {
		levels.Points = append(levels.Points, at(max(0, len(s.Runs)-stats.NearRuns), first, false), at(len(s.Runs)-1, first, false))
	}
	panel := figure.Panel{Title: title, X: x}
	for _, series := range []figure.Series{runs, levels, changes} {
		panel.Add(series)
	}
	return panel
}
