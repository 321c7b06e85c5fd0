package plots

import (
	"slices"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// square reports whether all sizes of a problem are equal: it has a place on an axis of numbers.
func square(s *stats.Summary) bool {
	_, ok := s.Square()
	return ok
}

// apart makes a picture of the square problems, and one of the others, whose name says so.
func apart(summaries []stats.Summary, of func([]stats.Summary) figure.Picture) (list []figure.Picture) {
	_, parts := each.Grouped(summaries, square)
	for _, isSquare := range []bool{true, false} {
		if parts[isSquare] == nil {
			continue
		}
		if p := of(parts[isSquare]); p != nil {
			if !isSquare {
				p.Head().Name += "_shapes"
			}
			list = append(list, p)
		}
	}
	return list
}

// usable reports whether a summary has a rate to draw.
func usable(s *stats.Summary) bool { return s.Status == results.OK && drawn(s.Rate) }

// drawn reports whether an estimate is there and has a place on an axis.
func drawn(e stats.Estimate) bool {
	return e.Known() && drawable(e.Median) && drawable(e.Lo) && drawable(e.Hi)
}

// drawable bounds what may become a place on an axis: far beyond any machine,
// and near enough that margins and ratios do not overflow.
func drawable(v float64) bool { return v > 1e-30 && v < 1e30 }

// failureOf says in a word why a summary has no rate.
func failureOf(s *stats.Summary) string {
	if s.Status == results.OK {
		return "no rate"
	}
	return string(s.Status)
}

// failed is the place of a summary without a value.
func failed(x float64, s *stats.Summary) figure.Failure {
	return figure.Failure{X: x, Status: failureOf(s), Untried: s.Status == results.Skipped}
}

// pointOf is an estimate at x.
func pointOf(x float64, e stats.Estimate) figure.Point {
	return figure.Point{X: x, Y: e.Median, Lo: e.Lo, Hi: e.Hi, LowConfidence: !e.Holds()}
}

// addRate puts the rate of a summary at x, or why it has none.
func addRate(s *figure.Series, x float64, sum *stats.Summary) {
	if usable(sum) {
		s.Points = append(s.Points, pointOf(x, sum.Rate))
	} else {
		s.Failures = append(s.Failures, failed(x, sum))
	}
}

// rateUnit returns the unit for rates up to largest.
func rateUnit(largest float64, of results.Unit) figure.Unit {
	name, value := results.RateUnit(largest, of)
	return figure.Unit{Name: name, Value: value}
}

var (
	times   = figure.Unit{Name: "×", Value: 1}
	percent = figure.Unit{Name: "%", Value: 1}
	plain   = figure.Unit{Value: 1}
)

// xOf places sizes: square ones at their length, others at 0, 1, 2 … in the
// order of what a launch does.
func xOf(summaries []stats.Summary) map[string]float64 {
	place := map[string]float64{}
	for i, t := range shapeAxis(summaries).Ticks {
		place[t.Label] = float64(i)
	}
	for i := range summaries {
		if n, ok := summaries[i].Square(); ok {
			place[summaries[i].Size()] = float64(n)
		}
	}
	return place
}

// sizeAxis is the axis of sizes: a log2 axis of square problems, else one of shapes.
func sizeAxis(summaries []stats.Summary) figure.Axis {
	if square(&summaries[0]) {
		return squareAxis(summaries)
	}
	return shapeAxis(summaries)
}

// squareAxis is a log2 axis with a tick at each size of square problems.
func squareAxis(summaries []stats.Summary) figure.Axis {
	ticks := each.Of(summaries, func(s stats.Summary) figure.Tick {
		n, _ := s.Square()
		return figure.Tick{Value: float64(n), Label: s.Size()}
	})
	return figure.Powers("size ("+summaries[0].SizeNames(" = ")+")", ticks)
}

// shapeAxis is an axis of categories, by what a launch does.
func shapeAxis(summaries []stats.Summary) figure.Axis {
	sorted := slices.Clone(summaries)
	slices.SortStableFunc(sorted, func(a, b stats.Summary) int { return results.CompareSizes(&a.Record, &b.Record) })
	return figure.Categories("shape ("+summaries[0].SizeNames("×")+")", distinct(sorted, sizeOf)) // causal or not, a shape is one
}

func sizeOf(s *stats.Summary) string { return s.Size() }

// categories is an axis with equal steps for the sizes, by FLOPs.
func categories(summaries []stats.Summary) figure.Axis {
	ax := shapeAxis(summaries)
	if !slices.ContainsFunc(summaries, func(s stats.Summary) bool { return !square(&s) }) {
		ax.Label = "size (" + summaries[0].SizeNames(" = ") + ")"
	}
	return ax
}
