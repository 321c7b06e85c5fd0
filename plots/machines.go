package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// An origin is where rows were measured, or predicted for.
type origin struct{ host, chip string }

func machineOf(s *stats.Summary) origin { return origin{s.Host, cmp.Or(s.Chip, s.Device)} }

// machinesOf lists the machines of summaries in the order of their rows.
func machinesOf(summaries []stats.Summary) []origin {
	var list []origin
	for i := range summaries {
		if m := machineOf(&summaries[i]); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// machineRows is the ladder of many machines: a row for each, with the % of its
// peak that each kernel reaches at the largest size that most machines have.
func machineRows(q Request, summaries []stats.Summary) *Rows {
	best := stats.Best(summaries)
	size := commonSize(best)
	r := &Rows{}
	has := func(s *stats.Summary) bool { return s.Size() == size && usable(s) && drawn(s.PercentOfPeak) }
	inOrder := slices.Clone(best)
	slices.SortStableFunc(inOrder, func(a, b stats.Summary) int { return stats.CompareKernels(a.Kernel, b.Kernel) })
	for i := range inOrder {
		if has(&inOrder[i]) {
			r.seriesOf(&inOrder[i])
		}
	}
	var shown []*stats.Summary
	type row struct {
		Row
		top float64
	}
	var rows []row
	for _, m := range machinesOf(best) {
		var line row
		device, peak := m.chip, 0.0
		points := map[int]*stats.Summary{}
		for i := range best {
			s := &best[i]
			if machineOf(s) != m {
				continue
			}
			if s.Kernel != results.Baseline || peak == 0 {
				device, peak = deviceOf(&s.Record), s.Roof()
			}
			if !has(s) {
				continue
			}
			at := r.seriesOf(s)
			if old := points[at]; old == nil || s.Rate.Median > old.Rate.Median {
				points[at] = s
			}
		}
		for at, s := range points {
			e := s.PercentOfPeak
			line.Points = append(line.Points, RowPoint{at, e.Median, e.Lo, e.Hi})
			shown = append(shown, s)
			if s.Kernel != results.Baseline {
				line.top = math.Max(line.top, e.Median)
			}
		}
		slices.SortFunc(line.Points, func(a, b RowPoint) int { return cmp.Compare(a.Series, b.Series) })
		line.Label, line.Color = device, ink
		if m.host != "" {
			line.Label = m.host + " · " + device
		}
		switch {
		case peak == 0:
			line.Text = "no " + best[0].RoofName() + " known"
		case len(points) == 0:
			line.Text = "nothing ok at " + size
		default:
			line.Text = best[0].RoofName() + " " + rateUnit(peak, best[0].RateOf()).Format(peak)
		}
		rows = append(rows, line)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.top, a.top) })
	for _, line := range rows {
		r.Rows = append(r.Rows, line.Row)
	}
	slices.SortFunc(shown, func(a, b *stats.Summary) int {
		return cmp.Or(strings.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	if len(shown) == 0 {
		shown = append(shown, &best[0])
	}
	r.Heading = headingOf(q, fmt.Sprintf("The ladder on %d machines, size %s", len(rows), size), shown, true, "")
	r.Name = fileName(Request{Kind: "ladder_machines", Family: q.Family, Dtype: q.Dtype})
	top := 100.0
	for _, line := range rows {
		for _, pt := range line.Points {
			top = math.Max(top, pt.X)
		}
	}
	r.Mark = 100
	r.X = between("% of the machine's own "+roofOf(q, &best[0]), 0, top*1.03, Unit{"%", 1})
	return r
}

// seriesOf returns the index of the series that a summary belongs to: its kernel
// in its mode.
func (r *Rows) seriesOf(s *stats.Summary) int {
	n, _ := stats.Rung(s.Kernel)
	look := Series{Label: s.Kernel, Kernel: s.Kernel, Shape: max(n, 0), Predicted: s.Mode == results.Predicted}
	if look.Predicted {
		look.Label += " predicted"
	}
	if at := slices.IndexFunc(r.Series, func(o Series) bool { return o.Label == look.Label }); at >= 0 {
		return at
	}
	r.Series = append(r.Series, look)
	return len(r.Series) - 1
}

// commonSize returns the largest size that most machines have a rate for.
func commonSize(summaries []stats.Summary) string {
	have, work := map[string][]origin{}, map[string]float64{}
	for i := range summaries {
		s := &summaries[i]
		if !usable(s) || s.Kernel == results.Baseline {
			continue
		}
		if m := machineOf(s); !slices.Contains(have[s.Size()], m) {
			have[s.Size()] = append(have[s.Size()], m)
		}
		work[s.Size()] = s.Work()
	}
	best := ""
	for size := range have {
		if best == "" || cmp.Or(cmp.Compare(len(have[size]), len(have[best])), cmp.Compare(work[size], work[best]), cmp.Compare(size, best)) > 0 {
			best = size
		}
	}
	if best == "" {
		return summaries[0].Size()
	}
	return best
}
