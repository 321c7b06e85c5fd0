package plots

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

// accuracyPictures shows what speed costs: error against rate, a point for each
// way to multiply the same shape. There is a picture of one shape for each chip:
// the one measured in most ways, the largest of several.
func accuracyPictures(q Request, d data) ([]figure.Picture, error) {
	sizes, ways := each.Grouped(slices.DeleteFunc(stats.Best(d.asked), func(s stats.Summary) bool { return !usable(&s) || !errorAgainstFloat64(&s).Known }), sizeOf)
	if len(sizes) == 0 {
		return nil, errors.New("no row has a time and an error to draw against it: quantized products have (bench --dtype int8:per_channel+token), and those of floats")
	}
	size := slices.MaxFunc(sizes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(ways[a]), len(ways[b])), cmp.Compare(ways[a][0].Work(), ways[b][0].Work()))
	})
	return []figure.Picture{accuracyChart(q, size, ways[size])}, nil
}

// errorAgainstFloat64 is the error of a product relative to float64 arithmetic on the operands
// before quantization, so that it includes what quantization lost.
func errorAgainstFloat64(s *stats.Summary) results.Optional[float64] {
	e := s.RelErr
	if s.Quant != "" {
		e = s.QuantRelErr
	}
	e.Known = e.Known && drawable(e.Value)
	return e
}

func accuracyChart(q Request, size string, summaries []stats.Summary) *figure.Chart {
	curves := curvesOf(summaries, false)
	all := q
	all.Dtype = cmp.Or(q.Dtype, "all")
	ch := &figure.Chart{Heading: headingOf(all, "What speed costs at "+size, sorted(curves), true, ""), Scatter: true}
	ch.Name = fileName(q)
	looks, names := slots(curves), waysOf(curves)
	left, right, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	for i, c := range curves {
		rate, e := c.any().Rate.Median, errorAgainstFloat64(c.any()).Value
		s := looks[i].series(names[i], c)
		s.Points = []figure.Point{{X: rate, Y: e, Lo: e, Hi: e}}
		ch.Series = append(ch.Series, s)
		left, right = math.Min(left, rate), math.Max(right, rate)
		low, high = math.Min(low, e), math.Max(high, e)
	}
	unit := rateUnit(right, summaries[0].RateOf())
	integers := ""
	if of := summaries[0].RateOf(); of != results.Bytes {
		unit = rateUnit(right, results.FLOPs)
		integers = " (of integers " + rateUnit(right, results.OPs).Name + ")"
	}
	ch.X = figure.Axis{Label: unit.Name + integers + ": to the right is faster", Scale: figure.Log, Min: left / 1.5, Max: right * 1.5, Unit: unit}
	ch.Y = figure.Axis{Label: "relative error (Frobenius) against float64, unquantized: below is better", Scale: figure.Log, Min: low / 2, Max: high * 2, Unit: plain}
	ch.Y.Ticks = figure.LogTicks(ch.Y.Min, ch.Y.Max, plain)
	for i := range ch.Y.Ticks {
		ch.Y.Ticks[i].Label = errorName(ch.Y.Ticks[i].Value)
	}
	return ch
}

// waysOf names the curves: by the way to multiply if that tells them apart, else by
// all in which they differ, the kernel first.
func waysOf(curves []*curve) []string {
	name := func(c **curve) string { return wayOf((*c).any()) }
	if ways := distinct(curves, name); len(ways) == len(curves) {
		return ways
	}
	return labels(curves, true)
}

// wayOf names a way to multiply, in as few words as tell it from the others.
func wayOf(s *stats.Summary) string {
	kernel := words.When(s.Kernel == results.Baseline, "%s", s.Kernel)
	dtypes := s.DtypeA + words.When(s.DtypeB != "" && s.DtypeB != s.DtypeA, "×%s", s.DtypeB)
	quant := s.Quant
	if name := problem.FormatNames(s.DtypeA, s.DtypeB, problem.Quant(quant)); name != "" {
		dtypes, quant = name, ""
	}
	return words.Joined(" ", kernel, dtypes, quant, s.Activation, s.Variant)
}
