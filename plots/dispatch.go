package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// dispatchPictures splits the time of a call: the device time of a launch and the
// dispatch beside it, which only the loop method tells apart.
func dispatchPictures(q Request, d data) ([]figure.Picture, error) {
	list := apart(stats.Best(d.asked), func(part []stats.Summary) figure.Picture {
		if !slices.ContainsFunc(part, func(s stats.Summary) bool { return usable(&s) }) {
			return nil
		}
		return dispatchPanels(q, part)
	})
	if list == nil {
		return nil, fmt.Errorf("no row of %s has a time", q.Dtype)
	}
	return list, nil
}

// noDispatch says why a method tells of no dispatch.
var noDispatch = map[string]string{"direct": "method direct is timed beside the kernel and has no dispatch", "wall": "method wall has dispatch inside its device time",
	"aot": "method aot predicts the device alone", "chain": "method chain hides dispatch behind the launches"}

func dispatchPanels(q Request, summaries []stats.Summary) *figure.Panels {
	curves := curvesOf(summaries, false)
	place, looks := xOf(summaries), slots(curves)
	device := figure.Panel{Title: "device: one launch", X: sizeAxis(summaries)}
	host := figure.Panel{Title: "dispatch: one call, beside its launches", X: device.X}
	droppedIntercepts := 0
	var methods []string
	for i, name := range labels(curves, true) {
		times := looks[i].series(name, curves[i])
		dispatches := times
		for size, s := range curves[i].at {
			x := place[size]
			if !usable(s) {
				times.Failures = append(times.Failures, failed(x, s))
				continue
			}
			times.Points = append(times.Points, timePoint(x, s.Time))
			switch m := string(s.Method); {
			case !s.Dispatch.Known():
				if m != "" && m != string(results.Loop) {
					methods = each.With(methods, m)
				}
			case drawable(s.Dispatch.Median):
				dispatches.Points = append(dispatches.Points, timePoint(x, s.Dispatch))
			default:
				droppedIntercepts++
				dispatches.Missing = append(dispatches.Missing, x)
			}
		}
		device.Add(times)
		host.Add(dispatches)
	}
	least, most, known := medians(host)
	if known {
		device.Band, device.Words = [2]float64{least, most}, "dispatch, from least to most"
	} else {
		host.Note = "nothing to show: dispatch is told apart by method loop alone"
	}
	low, high, _ := medians(device)
	device.Y = figure.Decades("time", math.Min(low, least), math.Max(high, most), 1.1, figure.Unit{Name: "s", Value: 1}, func(v float64) string {
		return strings.NewReplacer(".00", "", ".0", "").Replace(stats.FormatSeconds(v))
	})
	host.Y = device.Y
	p := &figure.Panels{Heading: headingOf(q, "Device time and dispatch", sorted(curves), true, ""), Rows: [][]figure.Panel{{device, host}}}
	slices.Sort(methods)
	if len(methods) > 0 {
		parts := each.Of(methods, func(m string) string { return noDispatch[m] })
		p.Subtitle = append(p.Subtitle, strings.Join(parts, " · "))
	}
	if droppedIntercepts > 0 {
		p.Subtitle = append(p.Subtitle, fmt.Sprintf("%d intercepts are not positive: dispatch too small to tell from noise, left out", droppedIntercepts))
	}
	return p
}

func timePoint(x float64, e stats.Estimate) figure.Point {
	lo := e.Lo
	if !drawable(lo) {
		lo = e.Median
	}
	return figure.Point{X: x, Y: e.Median, Lo: lo, Hi: math.Max(e.Hi, e.Median)}
}

// medians returns the range of a panel's points.
func medians(p figure.Panel) (least, most float64, ok bool) {
	least = math.Inf(1)
	for _, s := range p.Series {
		for _, pt := range s.Points {
			least, most, ok = math.Min(least, pt.Y), math.Max(most, pt.Y), true
		}
	}
	return least, most, ok
}
