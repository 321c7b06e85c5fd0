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

// workPictures shows the rate of what is asked beside that of all that programs compute
// for it, for kernels that are told in FLOPs: a row of panels for each way of asking, which
// share their axes.
func workPictures(q Request, d data) ([]figure.Picture, error) {
	told := slices.DeleteFunc(stats.Best(d.asked), func(s stats.Summary) bool {
		return s.FLOPsComputed <= 0 || s.Work() <= 0 || s.Figure == results.PerBytes
	})
	list := apart(told, func(part []stats.Summary) figure.Picture {
		if !slices.ContainsFunc(part, func(s stats.Summary) bool { return usable(&s) }) {
			return nil
		}
		return workPanels(q, part)
	})
	if list == nil {
		return nil, fmt.Errorf("no row of %s tells what its programs compute: bench --config attention measures some", q.Dtype)
	}
	return list, nil
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
	_, lines := grouped(curves, func(c **curve) string { return lineOf(*c) })
	firsts := each.That(curves, func(c *curve) bool { return lines[lineOf(c)][0] == c })
	looks := map[string]slot{}
	for i, s := range slots(firsts) {
		looks[lineOf(firsts[i])] = s
	}
	return looks
}
