package plots

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// maxHeatRows is how many block shapes one picture shows.
const maxHeatRows = 60

// blockPictures shows every block shape of a kernel at every size: a row of cells
// for each shape, the darker the faster.
func blockPictures(q Request, d data) ([]figure.Picture, error) {
	asked := slices.DeleteFunc(slices.Clone(d.asked), func(s stats.Summary) bool {
		return s.Kernel == results.Baseline || choiceOf(&s).volume() == 0
	})
	if len(asked) == 0 {
		if q.Kernel == results.Baseline {
			return nil, nil // the vendor keeps its blocks to itself
		}
		return nil, fmt.Errorf("no row of %s in %s has blocks", q.Kernel, q.Dtype)
	}
	curves := byChoice(curvesOf(asked, true))
	best := bestOfColumns(curves)
	note := ""
	if len(curves) > maxHeatRows {
		note = fmt.Sprintf("the %d fastest of %d block shapes · ", maxHeatRows, len(curves))
		curves = fastestCurves(curves, best)
	}
	list := sorted(curves)
	h := &figure.HeatMap{Heading: headingOf(q, q.Kernel+" by block shape", list, false, stats.Noisy+", "), Color: kernelColor(q.Kernel), X: categories(asked)}
	for i, name := range labels(curves, false) {
		row := figure.HeatRow{Label: name, Predicted: curves[i].any().Mode == results.Predicted}
		for _, size := range h.X.Ticks {
			cell := cellOf(curves[i].at[size.Label], best)
			h.Most = math.Max(h.Most, cell.Value)
			row.Cells = append(row.Cells, cell)
		}
		h.Rows = append(h.Rows, row)
	}
	h.Unit = rateUnit(h.Most, asked[0].RateOf())
	sides := words.When(asked[0].BN > 0, "bm×bk×bn") // of those that have three
	h.Subtitle = []string{note + "cells: " + h.Unit.Name + "; rows: blocks " + sides}
	return []figure.Picture{h}, nil
}

// byChoice takes apart the curves that have one block shape at each size: here it names a row.
func byChoice(curves []*curve) []*curve {
	var list []*curve
	for _, c := range curves {
		if !c.single {
			list = append(list, c)
			continue
		}
		line := each.Of(slices.Collect(maps.Values(c.at)), func(s *stats.Summary) stats.Summary { return *s })
		list = append(list, c.split(line)...)
	}
	return list
}

// column is a size in a mode: measured and predicted cells do not compete.
type column struct {
	size string
	mode results.Mode
}

func bestOfColumns(curves []*curve) map[column]float64 {
	best := map[column]float64{}
	for _, c := range curves {
		for size, s := range c.at {
			if usable(s) {
				at := column{size, s.Mode}
				best[at] = math.Max(best[at], s.Rate.Median)
			}
		}
	}
	return best
}

// fastestCurves keeps, in their order, the curves that come nearest to the best of some column.
func fastestCurves(curves []*curve, best map[column]float64) []*curve {
	share := map[*curve]float64{}
	for _, c := range curves {
		for size, s := range c.at {
			if usable(s) {
				share[c] = math.Max(share[c], s.Rate.Median/best[column{size, s.Mode}])
			}
		}
	}
	ranked := slices.Clone(curves)
	slices.SortStableFunc(ranked, func(a, b *curve) int { return cmp.Compare(share[b], share[a]) })
	kept := ranked[:maxHeatRows]
	return slices.DeleteFunc(slices.Clone(curves), func(c *curve) bool { return !slices.Contains(kept, c) })
}

// needs finds need and limit in the reason of a point that is too big, as backends write it.
var needs = regexp.MustCompile(`needs (\S+ \S+) of .*?, has (\S+ \w+)`)

func cellOf(s *stats.Summary, best map[column]float64) figure.HeatCell {
	switch {
	case s == nil:
		return figure.HeatCell{}
	case usable(s):
		return figure.HeatCell{Value: s.Rate.Median, LowConfidence: !s.Rate.Holds(), Best: s.Rate.Median == best[column{s.Size(), s.Mode}]}
	case s.Status == results.TooBig:
		cell := figure.HeatCell{Status: "too big"}
		if m := needs.FindStringSubmatch(s.Reason); m != nil {
			cell.Footprint, cell.Limit = m[1], m[2]
		} else if s.FastBytes > 0 {
			cell.Footprint = figure.Digits(float64(s.FastBytes)/(1<<20)) + " MiB"
		}
		return cell
	}
	return figure.HeatCell{Status: failureOf(s)}
}
