package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// dispatchPictures splits the time of a call: the device time of a launch and the
// dispatch beside it, which only the loop method tells apart.
func dispatchPictures(q Request, d data) ([]Picture, error) {
	var list []Picture
	for i, group := range bySquare(stats.Best(d.asked)) {
		if !slices.ContainsFunc(group, func(s stats.Summary) bool { return usable(&s) }) {
			continue
		}
		p := dispatchPanels(q, group)
		if i == 1 {
			p.Name += "_shapes"
		}
		list = append(list, p)
	}
	if list == nil {
		return nil, fmt.Errorf("no row of %s has a time", q.Dtype)
	}
	return list, nil
}

func dispatchPanels(q Request, summaries []stats.Summary) *Panels {
	curves := curvesOf(summaries, false)
	place := xOf(summaries)
	looks := slots(curves)
	device := Panel{Title: "device: one launch", X: categoriesOrSquare(summaries)}
	host := Panel{Title: "dispatch: one call, beside its launches", X: device.X}
	lost := 0
	var methods []string
	for i, name := range labels(curves, true) {
		c := curves[i]
		look := Series{Label: name, Kernel: c.kernel, Shade: looks[i].shade(), Shape: looks[i].shape,
			Predicted: c.any().Mode == results.Predicted}
		times, dispatches := look, look
		for size, s := range c.at {
			x := place[size]
			if !usable(s) {
				times.Failures = append(times.Failures, Failure{x, failureOf(s)})
				continue
			}
			times.Points = append(times.Points, timePoint(x, s.Time))
			switch {
			case !s.Dispatch.Known():
				if m := string(s.Method); !slices.Contains(methods, m) && m != "" && m != string(results.Loop) {
					methods = append(methods, m)
				}
			case drawable(s.Dispatch.Median):
				dispatches.Points = append(dispatches.Points, timePoint(x, s.Dispatch))
			default:
				lost++
			}
		}
		device.add(times)
		host.add(dispatches)
	}
	axis := timeAxis(device, host)
	device.Y, host.Y = axis, axis
	if lo, hi, ok := medians(host); ok {
		device.Band, device.Words = [2]float64{lo, hi}, "dispatch, from least to most"
	} else {
		host.Note = "nothing to show: dispatch is told apart by method loop alone"
	}
	p := &Panels{Heading: headingOf(q, "Device time and dispatch", sorted(curves), true, ""), Rows: [][]Panel{{device, host}}}
	slices.Sort(methods)
	if len(methods) > 0 {
		notes := map[string]string{"direct": "method direct is timed beside the kernel and has no dispatch", "wall": "method wall has dispatch inside its device time",
			"aot": "method aot predicts the device alone", "chain": "method chain hides dispatch behind the launches"}
		var parts []string
		for _, m := range methods {
			parts = append(parts, notes[m])
		}
		p.Subtitle = append(p.Subtitle, strings.Join(parts, " · "))
	}
	if lost > 0 {
		p.Subtitle = append(p.Subtitle, fmt.Sprintf("%d intercepts are not positive: dispatch too small to tell from noise, left out", lost))
	}
	return p
}

// categoriesOrSquare is the axis of sizes.
func categoriesOrSquare(summaries []stats.Summary) Axis {
	if square(&summaries[0]) {
		return squareAxis(summaries)
	}
	return shapeAxis(summaries)
}

func timePoint(x float64, e stats.Estimate) Point {
	lo := e.Lo
	if !drawable(lo) {
		lo = e.Median
	}
	return Point{X: x, Y: e.Median, Lo: lo, Hi: math.Max(e.Hi, e.Median)}
}

// add adds a series with its points in order; one without any is left out.
func (p *Panel) add(s Series) {
	if len(s.Points) == 0 {
		return
	}
	slices.SortFunc(s.Points, func(a, b Point) int { return int(math.Copysign(1, a.X-b.X)) })
	p.Series = append(p.Series, s)
}

// medians returns the range of a panel's points.
func medians(p Panel) (least, most float64, ok bool) {
	least = math.Inf(1)
	for _, s := range p.Series {
		for _, pt := range s.Points {
			least, most, ok = math.Min(least, pt.Y), math.Max(most, pt.Y), true
		}
	}
	return least, most, ok
}

// timeAxis is a log axis of seconds for the points of panels, in the unit that
// suits each tick.
func timeAxis(panels ...Panel) Axis {
	least, most := math.Inf(1), 0.0
	for _, p := range panels {
		if lo, hi, ok := medians(p); ok {
			least, most = math.Min(least, lo), math.Max(most, hi)
		}
	}
	ax := Axis{Label: "time", Scale: Log, Min: math.Pow(10, math.Floor(math.Log10(least))), Max: math.Pow(10, math.Ceil(math.Log10(most))) * 1.1, Unit: Unit{"s", 1}}
	for _, t := range logTicks(ax.Min, ax.Max, Unit{"s", 1}) {
		if t.Rank == 0 {
			t.Label = stats.FormatSeconds(t.Value)
			t.Label = strings.NewReplacer(".00", "", ".0", "").Replace(t.Label)
			ax.Ticks = append(ax.Ticks, t)
		}
	}
	return ax
}
