package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/stats"
)

// mostSeries is how many points a picture of a history shows.
const mostSeries = 60

// History draws the rate of each point by run, with its levels and the changes between them:
// those that changed first.
func History(series []stats.Series) figure.Picture {
	changed := func(s stats.Series) int {
		if len(s.Starts) > 0 {
			return 0
		}
		return 1
	}
	list := slices.Clone(series)
	slices.SortStableFunc(list, func(a, b stats.Series) int { return cmp.Compare(changed(a), changed(b)) })
	list = list[:min(len(list), mostSeries)]
	var all []*stats.Summary
	for _, s := range list {
		all = append(all, s.Runs...)
	}
	p := &figure.Panels{Heading: headingOf(Request{Kind: "history"}, "History", all, false, "")}
	p.Name = "history"
	p.Footer = slices.DeleteFunc(p.Footer, func(line string) bool { return strings.HasPrefix(line, "medians") })
	p.Subtitle = []string{"the rate of each run (the 20th percentile of its times) over that of the first level; a hollow mark is left out, as too few samples were quiet"}
	if n := len(series) - len(list); n > 0 {
		p.Subtitle = append(p.Subtitle, fmt.Sprintf("%d more points are not shown", n))
	}
	name := pointNames(list)
	for row := range slices.Chunk(list, 2) {
		panels := make([]figure.Panel, len(row))
		least, most := 0.95, 1.05
		for i, s := range row {
			panels[i] = historyPanel(s, name(s))
			for _, pt := range panels[i].Series[0].Points {
				least, most = math.Min(least, pt.Y), math.Max(most, pt.Y)
			}
		}
		for i := range panels {
			panels[i].Y = figure.Between("rate", math.Max(0, least-0.02), most+0.02, times)
		}
		p.Rows = append(p.Rows, panels)
	}
	return p
}

// pointNames names series by the kernel and whatever else they differ in.
func pointNames(list []stats.Series) func(stats.Series) string {
	differ := func(of func(stats.Series) string) func(stats.Series) string {
		if slices.ContainsFunc(list, func(s stats.Series) bool { return of(s) != of(list[0]) }) {
			return of
		}
		return func(stats.Series) string { return "" }
	}
	parts := []func(stats.Series) string{
		func(s stats.Series) string { return s.Kernel }, func(s stats.Series) string { return s.Variant },
		differ(func(s stats.Series) string { return s.Blocks() }), differ(func(s stats.Series) string { return s.Params }),
		func(s stats.Series) string { return s.Size() }, differ(func(s stats.Series) string { return s.Dtypes() }),
		differ(func(s stats.Series) string { return words.Counted(s.Threads, "thread", 1) }),
		differ(func(s stats.Series) string { return s.Host }), differ(func(s stats.Series) string { return cmp.Or(s.Chip, s.Device) }),
	}
	return func(s stats.Series) string {
		var said []string
		for _, part := range parts {
			said = append(said, part(s))
		}
		return words.Joined(" ", said...)
	}
}

func historyPanel(s stats.Series, title string) figure.Panel {
	color := kernelColor(s.Kernel)
	runs := figure.Series{Label: "a run", Color: color, Faint: true}
	levels := figure.Series{Label: "a level, with its trend", Color: figure.TextColor(color), Shape: 1}
	changes := figure.Series{Label: "a change", Color: figure.Vermillion, Shape: 2}
	lines := s.Lines()
	x := figure.Axis{Label: "run", Min: -0.7, Max: float64(len(s.Runs)) - 0.3}
	for i, r := range s.Runs {
		x.Ticks = append(x.Ticks, figure.Tick{Value: float64(i), Label: r.StartedAt.Format(time.DateOnly)[5:]})
		seconds := cmp.Or(s.Seconds[i], r.Time.Median)
		if y := lines[0].Seconds[0] / seconds; drawable(y) {
			runs.Points = append(runs.Points, figure.Point{X: float64(i), Y: y, Lo: y, Hi: y, LowConfidence: s.Seconds[i] == 0})
		} else {
			runs.Failures = append(runs.Failures, failed(float64(i), r))
		}
	}
	for i, l := range lines {
		for k, at := range l.Runs {
			y := lines[0].Seconds[0] / l.Seconds[k]
			levels.Points = append(levels.Points, figure.Point{X: float64(at), Y: y, Lo: y, Hi: y})
			if i > 0 && k == 0 {
				levels.Missing = append(levels.Missing, float64(at)-0.5)
				changes.Missing = append(changes.Missing, float64(at)-0.5)
				changes.Points = append(changes.Points, figure.Point{X: float64(at), Y: y, Lo: y, Hi: y})
			}
		}
	}
	for _, c := range s.Changes {
		if c.Ratio.Known() {
			title += fmt.Sprintf(", %s× %s", words.Figure(c.Ratio.Median), c.New.StartedAt.Format(time.DateOnly))
		}
	}
	panel := figure.Panel{Title: title, X: x}
	for _, series := range []figure.Series{runs, levels, changes} {
		panel.Add(series)
	}
	return panel
}
