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

// workPictures shows the rate of what is asked beside that of all that programs compute for it, for
// kernels that are told in FLOPs: a row of panels for each way of asking, which share their axes.
func workPictures(q Request, d data) ([]figure.Picture, error) {
	told := slices.DeleteFunc(stats.Best(d.asked), func(s stats.Summary) bool {
		return s.FLOPsComputed <= 0 || s.Work() <= 0 || s.Figure == results.PerBytes
	})
	list := apart(told, func(part []stats.Summary) figure.Picture { return ifUsable(q, part, workPanels) })
	if list == nil {
		return nil, fmt.Errorf("no row of %s tells what its programs compute: bench --config attention measures some", q.Dtype)
	}
	return list, nil
}

// ifUsable is a picture of summaries, nil if none has a rate.
func ifUsable(q Request, part []stats.Summary, of func(Request, []stats.Summary) *figure.Panels) figure.Picture {
	if !slices.ContainsFunc(each.Pointers(part), usable) {
		return nil
	}
	return of(q, part)
}

func workPanels(q Request, told []stats.Summary) *figure.Panels {
	curves := curvesOf(told, false)
	looks, place, x := lineLooks(curves), xOf(told), sizeAxis(told)
	p := &figure.Panels{Heading: headingOf(q, "FLOPs needed and computed", sorted(curves), true, hollowWords)}
	top := 0.0
	var same [][]figure.Panel // of ways of asking of which as much is computed
	for _, options := range distinct(told, func(s *stats.Summary) string { return s.Options }) {
		name := cmp.Or(options, "plain")
		differ := false
		useful, computed := figure.Panel{Title: name + ": needed", X: x}, figure.Panel{Title: name + ": computed", X: x}
		for _, c := range curves {
			if c.any().Options != options {
				continue
			}
			u := named(looks[lineOf(c)].series("", c), lineOf(c), c.any().Mode, modes(sorted(curves)))
			all := u
			for size, s := range c.at {
				if !usable(s) {
					continue
				}
				pt, more := pointOf(place[size], s.Rate), float64(s.FLOPsComputed)/s.Work()
				u.Points, differ = append(u.Points, pt), differ || math.Abs(more-1) > 0.02
				pt.Y, pt.Lo, pt.Hi = pt.Y*more, pt.Lo*more, pt.Hi*more
				all.Points = append(all.Points, pt)
			}
			useful.Add(u)
			computed.Add(all)
		}
		if row := []figure.Panel{useful, computed}; differ {
			p.Rows = append(p.Rows, row)
		} else {
			same = append(same, row)
		}
	}
	if p.Rows == nil { // else they say nothing beside those that differ
		p.Rows = same
	}
	for _, panel := range slices.Concat(p.Rows...) {
		_, most, _ := medians(panel)
		top = math.Max(top, most)
	}
	unit := rateUnit(top, told[0].RateOf())
	y := figure.Axis{Label: unit.Name, Max: top * 1.2, Unit: unit}
	var ways []way
	for _, row := range p.Rows {
		for j := range row {
			row[j].Y = y
			if roof := told[0].Roof(); drawable(roof) && roof < y.Max {
				row[j].Mark = roof
			}
		}
		for _, s := range row[0].Series {
			ways = each.With(ways, way{name: s.Label, label: s.Label})
		}
	}
	p.Subtitle = append(p.Subtitle, "needed: scores that a row sees · computed: those of whole blocks that the kernel goes through, and what else its programs multiply")
	sayCovered(p, slices.Concat(p.Rows...), ways)
	return p
}

// lineOf is the kernel of a curve with its variant: what is one line in each panel.
func lineOf(c *curve) string { return strings.TrimSpace(c.kernel + " " + c.any().Variant) }

// lineLooks gives each line its slot, the same in all panels.
func lineLooks(curves []*curve) map[string]slot {
	_, lines := each.Grouped(curves, func(c **curve) string { return lineOf(*c) })
	firsts := each.That(curves, func(c *curve) bool { return lines[lineOf(c)][0] == c })
	looks := map[string]slot{}
	for i, s := range slots(firsts) {
		looks[lineOf(firsts[i])] = s
	}
	return looks
}

// dispatchPictures splits the time of a call: the device time of a launch and the
// dispatch beside it, which only the loop method tells apart.
func dispatchPictures(q Request, d data) ([]figure.Picture, error) {
	list := apart(stats.Best(d.asked), func(part []stats.Summary) figure.Picture { return ifUsable(q, part, dispatchPanels) })
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
