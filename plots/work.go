package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// workPictures shows the rate of what is asked beside that of all that programs compute
// for it, for kernels that are told in FLOPs: a row of panels for each way of asking, which
// share their axes.
func workPictures(q Request, d data) ([]Picture, error) {
	var list []Picture
	for i, part := range bySquare(stats.Best(d.asked)) {
		if p := workPanels(q, part); p != nil {
			if i == 1 {
				p.Name += "_shapes"
			}
			list = append(list, p)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("no row of %s tells what its programs compute: bench --config attention measures some", q.Dtype)
	}
	return list, nil
}

// computing reports whether the row tells both counts.
func computing(s *stats.Summary) bool {
	return s.FLOPsComputed > 0 && s.Work() > 0 && s.Figure != results.PerBytes
}

func workPanels(q Request, summaries []stats.Summary) *Panels {
	var asked []string // by options
	told := slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return !computing(&s) })
	for i := range told {
		if !slices.Contains(asked, told[i].Options) {
			asked = append(asked, told[i].Options)
		}
	}
	if !slices.ContainsFunc(told, func(s stats.Summary) bool { return usable(&s) }) {
		return nil
	}
	curves := curvesOf(told, false)
	looks := lineLooks(curves)
	place := xOf(told)
	x := categoriesOrSquare(told)
	p := &Panels{Heading: headingOf(q, "FLOPs asked for and computed", sorted(curves), true, hollow)}
	top := 0.0
	for _, options := range asked {
		name := options
		if name == "" {
			name = "plain"
		}
		useful, computed := Panel{Title: name + ": asked for", X: x}, Panel{Title: name + ": computed", X: x}
		for _, c := range curves {
			if c.any().Options != options {
				continue
			}
			look := Series{Label: lineOf(c), Kernel: c.kernel, Shade: looks[lineOf(c)].shade(), Shape: looks[lineOf(c)].shape, Predicted: c.any().Mode == results.Predicted}
			if look.Predicted {
				look.Label += " predicted"
			}
			u, all := look, look
			for size, s := range c.at {
				if !usable(s) {
					continue
				}
				more := float64(s.FLOPsComputed) / s.Work()
				for _, to := range []struct {
					s  *Series
					by float64
				}{{&u, 1}, {&all, more}} {
					to.s.Points = append(to.s.Points, Point{X: place[size], Y: s.Rate.Median * to.by, Lo: s.Rate.Lo * to.by, Hi: s.Rate.Hi * to.by, Rough: !s.Rate.Holds()})
				}
				top = math.Max(top, s.Rate.Median*math.Max(1, more))
			}
			useful.add(u)
			computed.add(all)
		}
		p.Rows = append(p.Rows, []Panel{useful, computed})
	}
	unit := rateUnit(top, told[0].RateOf())
	y := Axis{Label: unit.Name, Max: top * 1.1, Unit: unit}
	for i := range p.Rows {
		for j := range p.Rows[i] {
			p.Rows[i][j].Y = y
			if roof := told[0].Roof(); drawable(roof) && roof < y.Max {
				p.Rows[i][j].Mark = roof
			}
		}
	}
	p.Subtitle = append(p.Subtitle, "asked for: scores that a row sees · computed: those of whole blocks that the kernel goes through, and what else its programs multiply")
	var ways []way
	for _, panels := range p.Rows {
		for _, series := range panels[0].Series {
			if w := (way{name: series.Label, label: series.Label}); !slices.Contains(ways, w) {
				ways = append(ways, w)
			}
		}
	}
	if hidden := covered(slices.Concat(p.Rows...), ways); hidden != nil {
		p.Subtitle = append(p.Subtitle, "nearly equal, one drawn over the other: "+strings.Join(hidden, ", "))
	}
	return p
}

// lineOf is the kernel of a curve with its variant: what is one line in each panel.
func lineOf(c *curve) string { return strings.TrimSpace(c.kernel + " " + c.any().Variant) }

// lineLooks gives each line its slot, the same in all panels.
func lineLooks(curves []*curve) map[string]slot {
	var firsts []*curve
	for _, c := range curves {
		if !slices.ContainsFunc(firsts, func(o *curve) bool { return lineOf(o) == lineOf(c) }) {
			firsts = append(firsts, c)
		}
	}
	looks := map[string]slot{}
	for i, s := range slots(firsts) {
		looks[lineOf(firsts[i])] = s
	}
	return looks
}
