package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// errorPictures shows how far results are off, relative to float64 on the same inputs, by the
// length K of the contraction, in the dtype that rounds most. All block shapes are in it: an
// error follows from the blocks and which of them is fastest from the day, so the picture is
// that of the sweep, however busy the machine was.
func errorPictures(q Request, d data) ([]figure.Picture, error) {
	known := slices.DeleteFunc(slices.Clone(d.asked), func(s stats.Summary) bool {
		return !s.RelErr.Known || s.RelErr.Value < 0 || s.RelErr.Value > 1e30 || s.Contracted() < 1
	})
	if len(known) == 0 {
		return nil, errors.New("no row has rel_err: nothing to show of errors")
	}
	most := slices.MaxFunc(known, func(a, b stats.Summary) int { return cmp.Compare(a.RelErr.Value, b.RelErr.Value) })
	dtypes, of := each.Grouped(known, func(s *stats.Summary) string { return s.Dtypes() })
	shown := of[most.Dtypes()]
	rows := each.Pointers(shown)
	ch := &figure.Chart{X: contractionAxis(shown), Y: figure.Axis{Label: "relative error against float64", Max: 1, Unit: plain}}
	if power := math.Floor(math.Log10(most.RelErr.Value)); most.RelErr.Value > 1e-30 {
		ch.Y.Unit.Value = math.Pow(10, power)
		ch.Y.Max, ch.Y.Label = most.RelErr.Value*1.1, fmt.Sprintf("%s, in 1e%.0f", ch.Y.Label, power)
	}
	ch.Series = errorSeries(shown, modes(rows))
	ch.Heading = headingOf(q, "Error by "+ch.X.Label, rows, false, hollowWords)
	ch.Footer = ch.Footer[:1] // the others are of times
	ch.Subtitle = []string{"a line is the largest error of a kernel's block shapes, its band reaches down to the least"}
	if len(dtypes) > 1 {
		ch.Subtitle[0] += fmt.Sprintf(" · of %d dtypes the one that rounds most", len(dtypes))
	}
	return []figure.Picture{ch}, nil
}

// errorSeries are the worst error at each K of each kernel and mode, and how far it is to the
// least. Kernels of the same errors are one line with their names.
func errorSeries(summaries []stats.Summary, all string) (list []figure.Series) {
	type line struct {
		kernel string
		mode   results.Mode
	}
	order, lines := each.Grouped(summaries, func(s *stats.Summary) line { return line{s.Kernel, s.Mode} })
	slices.SortFunc(order, func(a, b line) int {
		return cmp.Or(stats.CompareKernels(a.kernel, b.kernel), cmp.Compare(a.mode, b.mode))
	})
	for _, id := range order {
		s := seriesOf(id.kernel, id.mode, all)
		lengths, at := each.Grouped(lines[id], (*stats.Summary).Contracted)
		for _, k := range lengths {
			pt := figure.Point{X: float64(k), Lo: math.Inf(1)}
			for i := range at[k] {
				v := at[k][i].RelErr.Value
				pt.Y, pt.Lo = math.Max(pt.Y, v), math.Min(pt.Lo, v)
			}
			pt.Hi = pt.Y
			s.Points = append(s.Points, pt)
		}
		s.Sort()
		same := slices.IndexFunc(list, func(o figure.Series) bool {
			return o.Predicted == s.Predicted && (within(o.Points, s.Points) || within(s.Points, o.Points))
		})
		if same >= 0 {
			if within(s.Points, list[same].Points) {
				s.Points = list[same].Points
			}
			s.Label = short(list[same].Label) + ", " + short(s.Label)
			list = slices.Delete(list, same, same+1)
		}
		list = append(list, s)
	}
	return list
}

// within reports whether the points all lie on others.
func within(points, others []figure.Point) bool {
	return !slices.ContainsFunc(points, func(a figure.Point) bool {
		return !slices.ContainsFunc(others, func(b figure.Point) bool { return alike(a, b) })
	})
}

// alike reports whether two points are nearly one.
func alike(a, b figure.Point) bool {
	const near = 0.02
	return a.X == b.X && math.Abs(a.Y-b.Y) <= near*b.Y
}

// contractionAxis is an axis of the length of a sum: K of a matmul.
func contractionAxis(summaries []stats.Summary) figure.Axis {
	name := summaries[0].ContractedName()
	ax := figure.Axis{Label: strings.ToUpper(name[:1]) + name[1:]}
	for _, s := range summaries {
		k := float64(s.Contracted())
		if !slices.ContainsFunc(ax.Ticks, func(t figure.Tick) bool { return t.Value == k }) {
			ax.Ticks = append(ax.Ticks, figure.Tick{Value: k, Label: strconv.Itoa(s.Contracted()), Rank: -s.Contracted()})
		}
		ax.Max = math.Max(ax.Max, k*1.03)
		if s.ContractedName() != name {
			ax.Label = "Length of a sum"
		}
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
