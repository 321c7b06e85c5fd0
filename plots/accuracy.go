package plots

import (
	"errors"
	"math"
	"slices"
	"strings"

	"matladder/results"
)

// errorPictures shows how far results are off: the relative error, and the error
// in parts of what the check allows, by the length K of the contraction, a panel
// for each dtype.
func errorPictures(q Request, d data) ([]Picture, error) {
	best := results.Best(d.asked)
	var dtypes []string
	for i := range best {
		if name := best[i].Dtypes(); (best[i].RelErr.Known || best[i].ErrOverBound.Known) && !slices.Contains(dtypes, name) {
			dtypes = append(dtypes, name)
		}
	}
	if dtypes == nil {
		return nil, errors.New("no row has rel_err or err_over_bound: nothing to show of errors")
	}
	slices.Sort(dtypes)
	relative := errorRow{name: "rel_err: against float64 on the same inputs", of: func(s *results.Summary) results.Optional[float64] { return s.RelErr }}
	bounded := errorRow{name: "err/bound: in parts of what the check allows, which fails above 1", mark: 1,
		of: func(s *results.Summary) results.Optional[float64] { return s.ErrOverBound }}
	p := &Panels{Heading: headingOf(q, "Errors by K", shownSummaries(best), true)}
	for _, row := range []errorRow{relative, bounded} {
		if panels := row.panels(best, dtypes); panels != nil {
			p.Rows = slices.AppendSeq(p.Rows, slices.Chunk(panels, columnsFor(dtypes)))
		}
	}
	p.Subtitle[1] = "each kernel with its fastest block shape at each size · the worst point of each K"
	return []Picture{p}, nil
}

func shownSummaries(list []results.Summary) []*results.Summary {
	var shown []*results.Summary
	for i := range list {
		if list[i].RelErr.Known || list[i].ErrOverBound.Known {
			shown = append(shown, &list[i])
		}
	}
	return shown
}

// An errorRow is one figure of errors, a panel for each dtype.
type errorRow struct {
	name string
	of   func(*results.Summary) results.Optional[float64]
	mark float64
}

func (r errorRow) panels(summaries []results.Summary, dtypes []string) []Panel {
	least, most := math.Inf(1), r.mark
	exact := false
	var panels []Panel
	for _, dtype := range dtypes {
		p := Panel{Title: dtype, Mark: r.mark}
		var of []results.Summary
		for _, s := range summaries {
			if v := r.of(&s); s.Dtypes() == dtype && v.Known && v.Value >= 0 && v.Value < 1e30 {
				of = append(of, s)
				if v.Value > 1e-30 {
					least, most = math.Min(least, v.Value), math.Max(most, v.Value)
				} else {
					exact = true
				}
			}
		}
		if len(of) > 0 {
			p.X = contractionAxis(of)
			p.addErrors(of, r.of)
		}
		panels = append(panels, p)
	}
	if !slices.ContainsFunc(panels, func(p Panel) bool { return len(p.Series) > 0 }) {
		return nil
	}
	ax := errorAxis(r.name, least, most, exact)
	for i := range panels {
		panels[i].Y = ax
		if len(panels[i].Series) == 0 {
			panels[i].X, panels[i].Note = panels[0].X, "no figure"
		}
		for j := range panels[i].Series {
			for k := range panels[i].Series[j].Points {
				pt := &panels[i].Series[j].Points[k]
				pt.Y = math.Max(pt.Y, ax.Min)
				pt.Lo, pt.Hi = pt.Y, pt.Y
			}
		}
	}
	return panels
}

// addErrors adds a series for each kernel and mode: the worst error at each K.
func (p *Panel) addErrors(summaries []results.Summary, of func(*results.Summary) results.Optional[float64]) {
	type line struct {
		kernel string
		mode   results.Mode
	}
	worst := map[line]map[int]float64{}
	var order []line
	for i := range summaries {
		s := &summaries[i]
		id := line{s.Kernel, s.Mode}
		if worst[id] == nil {
			worst[id] = map[int]float64{}
			order = append(order, id)
		}
		worst[id][s.K] = math.Max(worst[id][s.K], of(s).Value)
	}
	slices.SortFunc(order, func(a, b line) int {
		if c := results.CompareKernels(a.kernel, b.kernel); c != 0 {
			return c
		}
		return strings.Compare(string(a.mode), string(b.mode))
	})
	for _, id := range order {
		n, _ := results.Rung(id.kernel)
		s := Series{Label: id.kernel, Kernel: id.kernel, Shape: max(n, 0), Predicted: id.mode == results.Predicted}
		if s.Predicted {
			s.Label += " predicted"
		}
		for k, v := range worst[id] {
			s.Points = append(s.Points, Point{X: float64(k), Y: v})
		}
		p.add(s)
	}
}

// contractionAxis is a log axis of K.
func contractionAxis(summaries []results.Summary) Axis {
	var squares []results.Summary
	for _, s := range summaries {
		s.Batch, s.M, s.N = 1, s.K, s.K
		squares = append(squares, s)
	}
	ax := squareAxis(squares)
	ax.Label = "K"
	return ax
}

// errorAxis is a log axis of errors. Where some are exactly 0 it ends in a tick
// for them, below all others.
func errorAxis(label string, least, most float64, exact bool) Axis {
	if math.IsInf(least, 1) {
		least, most = 1e-1, math.Max(most, 1)
	}
	// Whole decades, so that there are ticks however close the errors are.
	ax := Axis{Label: label, Scale: Log, Unit: Unit{"", 1},
		Min: math.Pow(10, math.Floor(math.Log10(least))), Max: math.Pow(10, math.Ceil(math.Log10(most*2)))}
	for _, t := range errorTicks(ax.Min, ax.Max) {
		if t.Rank == 0 {
			ax.Ticks = append(ax.Ticks, t)
		}
	}
	if exact {
		ax.Min /= 4
		ax.Ticks = append([]Tick{{Value: ax.Min, Label: "exact", Rank: -1}}, ax.Ticks...)
	}
	return ax
}

// errorTicks are those of a log axis, with labels such as 2e-7 where there would
// be many zeros.
func errorTicks(least, most float64) []Tick {
	ticks := logTicks(least, most, Unit{"", 1})
	for i := range ticks {
		if t := &ticks[i]; t.Value < 0.0099 || t.Value > 101 {
			power := math.Floor(math.Log10(t.Value) + 1e-9)
			t.Label = digits(t.Value/math.Pow(10, power)) + "e" + digits(power)
		}
	}
	return ticks
}
