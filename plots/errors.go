package plots

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// An errorRow is one figure of errors, a panel for each dtype.
type errorRow struct {
	name string
	of   func(*stats.Summary) results.Optional[float64]
	mark float64
}

var errorRows = []errorRow{
	{name: "rel_err: against float64 on the same inputs", of: func(s *stats.Summary) results.Optional[float64] { return s.RelErr }},
	{name: "err/bound: in parts of what the check allows, which fails above 1", mark: 1,
		of: func(s *stats.Summary) results.Optional[float64] { return s.ErrOverBound }},
}

// errorPictures shows how far results are off: the relative error, and the error
// in parts of what the check allows, by the length K of the contraction, a panel
// for each dtype. All block shapes are in it: an error follows from the blocks and
// which of them is fastest from the day, so the picture is that of the sweep, however
// busy the machine was.
func errorPictures(q Request, d data) ([]figure.Picture, error) {
	var shown []*stats.Summary
	for i := range d.asked {
		if s := &d.asked[i]; s.RelErr.Known || s.ErrOverBound.Known {
			shown = append(shown, s)
		}
	}
	if shown == nil {
		return nil, errors.New("no row has rel_err or err_over_bound: nothing to show of errors")
	}
	dtypes := distinct(shown, func(s **stats.Summary) string { return (*s).Dtypes() })
	slices.Sort(dtypes)
	p := &figure.Panels{Heading: headingOf(q, "Errors by K", shown, false, hollowWords)}
	for _, row := range errorRows {
		p.Rows = slices.AppendSeq(p.Rows, slices.Chunk(row.panels(d.asked, dtypes), figure.Columns(dtypes)))
	}
	p.Subtitle = []string{"a line is the largest error of a kernel's block shapes at each K, its band reaches down to the least · errors do not depend on how fast a launch is"}
	return []figure.Picture{p}, nil
}

// panels returns none if no row has the figure.
func (r errorRow) panels(summaries []stats.Summary, dtypes []string) (panels []figure.Panel) {
	least, most := math.Inf(1), r.mark
	exact, found := false, false
	for _, dtype := range dtypes {
		p := figure.Panel{Title: dtype, Mark: r.mark}
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
			p.X, found = contractionAxis(of), true
			r.addTo(&p, of)
		}
		panels = append(panels, p)
	}
	if !found {
		return nil
	}
	ax := errorAxis(r.name, least, most, exact)
	for i := range panels {
		p := &panels[i]
		p.Y = ax
		if len(p.Series) == 0 {
			p.X, p.Note = panels[0].X, "no figure"
		}
		for _, s := range p.Series {
			for k := range s.Points {
				pt := &s.Points[k]
				pt.Lo, pt.Y, pt.Hi = math.Max(pt.Lo, ax.Min), math.Max(pt.Y, ax.Min), math.Max(pt.Hi, ax.Min)
			}
		}
	}
	return panels
}

// addTo adds a series for each kernel and mode: the worst error at each K, and how
// far it is to the least.
func (r errorRow) addTo(p *figure.Panel, summaries []stats.Summary) {
	type line struct {
		kernel string
		mode   results.Mode
	}
	order, lines := grouped(summaries, func(s *stats.Summary) line { return line{s.Kernel, s.Mode} })
	slices.SortFunc(order, func(a, b line) int {
		return cmp.Or(stats.CompareKernels(a.kernel, b.kernel), cmp.Compare(a.mode, b.mode))
	})
	for _, id := range order {
		s := seriesOf(id.kernel, id.mode)
		lengths, at := grouped(lines[id], (*stats.Summary).Contracted)
		for _, k := range lengths {
			pt := figure.Point{X: float64(k), Lo: math.Inf(1)}
			for i := range at[k] {
				v := r.of(&at[k][i]).Value
				pt.Y, pt.Lo = math.Max(pt.Y, v), math.Min(pt.Lo, v)
			}
			pt.Hi = pt.Y
			s.Points = append(s.Points, pt)
		}
		p.Add(s)
	}
}

// contractionAxis is a log axis of the length of a sum: K of a matmul.
func contractionAxis(summaries []stats.Summary) figure.Axis {
	var ticks []figure.Tick
	name := summaries[0].ContractedName()
	name = strings.ToUpper(name[:1]) + name[1:]
	for _, s := range summaries {
		ticks = append(ticks, figure.Tick{Value: float64(s.Contracted()), Label: strconv.Itoa(s.Contracted())})
		if s.ContractedName() != summaries[0].ContractedName() {
			name = "Length of a sum"
		}
	}
	return figure.Powers(name, ticks)
}

// errorAxis is a log axis of errors. Where some are exactly 0 it ends in a tick
// for them, below all others.
func errorAxis(label string, least, most float64, exact bool) figure.Axis {
	if math.IsInf(least, 1) {
		least, most = 1e-1, math.Max(most, 1)
	}
	// Whole decades, so that there are ticks however close the errors are.
	ax := figure.Decades(label, least, most*2, 1, plain, errorName)
	if exact {
		ax.Min /= 4
		ax.Ticks = append([]figure.Tick{{Value: ax.Min, Label: "exact", Rank: -1}}, ax.Ticks...)
	}
	return ax
}

// errorName writes an error, as 2e-7 where there would be many zeros.
func errorName(v float64) string {
	if v >= 0.0099 && v <= 101 {
		return figure.Digits(v)
	}
	power := math.Floor(math.Log10(v) + 1e-9)
	return figure.Digits(v/math.Pow(10, power)) + "e" + figure.Digits(power)
}
