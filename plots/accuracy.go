package plots

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// errorPictures shows how far results are off: the relative error, and the error
// in parts of what the check allows, by the length K of the contraction, a panel
// for each dtype. All block shapes are in it: an error follows from the blocks and
// which of them is fastest from the day, so the picture is that of the sweep, however
// busy the machine was.
func errorPictures(q Request, d data) ([]Picture, error) {
	var dtypes []string
	for i := range d.asked {
		s := &d.asked[i]
		if name := s.Dtypes(); (s.RelErr.Known || s.ErrOverBound.Known) && !slices.Contains(dtypes, name) {
			dtypes = append(dtypes, name)
		}
	}
	if dtypes == nil {
		return nil, errors.New("no row has rel_err or err_over_bound: nothing to show of errors")
	}
	slices.Sort(dtypes)
	relative := errorRow{name: "rel_err: against float64 on the same inputs", of: func(s *stats.Summary) results.Optional[float64] { return s.RelErr }}
	bounded := errorRow{name: "err/bound: in parts of what the check allows, which fails above 1", mark: 1,
		of: func(s *stats.Summary) results.Optional[float64] { return s.ErrOverBound }}
	p := &Panels{Heading: headingOf(q, "Errors by K", shownSummaries(d.asked), false, hollow)}
	for _, row := range []errorRow{relative, bounded} {
		if panels := row.panels(d.asked, dtypes); panels != nil {
			p.Rows = slices.AppendSeq(p.Rows, slices.Chunk(panels, columnsFor(dtypes)))
		}
	}
	p.Subtitle = []string{p.Subtitle[0], "a line is the largest error of a kernel's block shapes at each K, its band reaches down to the least · errors do not depend on how fast a launch is"}
	return []Picture{p}, nil
}

func shownSummaries(list []stats.Summary) []*stats.Summary {
	var shown []*stats.Summary
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
	of   func(*stats.Summary) results.Optional[float64]
	mark float64
}

func (r errorRow) panels(summaries []stats.Summary, dtypes []string) []Panel {
	least, most := math.Inf(1), r.mark
	exact := false
	var panels []Panel
	for _, dtype := range dtypes {
		p := Panel{Title: dtype, Mark: r.mark}
		var of []stats.Summary
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
				pt.Lo, pt.Y, pt.Hi = math.Max(pt.Lo, ax.Min), math.Max(pt.Y, ax.Min), math.Max(pt.Hi, ax.Min)
			}
		}
	}
	return panels
}

// addErrors adds a series for each kernel and mode: the worst error at each K, and how
// far it is to the least.
func (p *Panel) addErrors(summaries []stats.Summary, of func(*stats.Summary) results.Optional[float64]) {
	type line struct {
		kernel string
		mode   results.Mode
	}
	points := map[line]map[int]Point{}
	var order []line
	for i := range summaries {
		s := &summaries[i]
		id, v := line{s.Kernel, s.Mode}, of(s).Value
		if points[id] == nil {
			points[id] = map[int]Point{}
			order = append(order, id)
		}
		k := s.Contracted()
		pt, ok := points[id][k]
		if !ok {
			pt = Point{X: float64(k), Lo: v}
		}
		pt.Y, pt.Lo = math.Max(pt.Y, v), math.Min(pt.Lo, v)
		pt.Hi = pt.Y
		points[id][k] = pt
	}
	slices.SortFunc(order, func(a, b line) int {
		if c := stats.CompareKernels(a.kernel, b.kernel); c != 0 {
			return c
		}
		return strings.Compare(string(a.mode), string(b.mode))
	})
	for _, id := range order {
		n, _ := stats.Rung(id.kernel)
		s := Series{Label: id.kernel, Kernel: id.kernel, Shape: max(n, 0), Predicted: id.mode == results.Predicted}
		if s.Predicted {
			s.Label += " predicted"
		}
		for _, pt := range points[id] {
			s.Points = append(s.Points, pt)
		}
		p.add(s)
	}
}

// contractedName is what the length of a sum is called: K of a matmul.
func contractedName(summaries []stats.Summary) string {
	name := ""
	for i := range summaries {
		n := summaries[i].ContractedName()
		if name == "" {
			name = n
		}
		if n != name {
			return "length of a sum"
		}
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// contractionAxis is a log axis of K.
func contractionAxis(summaries []stats.Summary) Axis {
	var ticks []Tick
	for _, s := range summaries {
		ticks = append(ticks, Tick{Value: float64(s.Contracted()), Label: strconv.Itoa(s.Contracted())})
	}
	return powersAxis(contractedName(summaries), ticks)
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
