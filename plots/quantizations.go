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

// accuracyPictures shows what speed costs: error against rate, a point for each
// way to multiply the same shape. There is a picture of one shape for each chip:
// the one measured in most ways, the largest of several.
func accuracyPictures(q Request, d data) ([]Picture, error) {
	ways := map[string][]stats.Summary{}
	var sizes []string
	for _, s := range stats.Best(d.asked) {
		if !usable(&s) || !lost(&s).Known {
			continue
		}
		if ways[s.Size()] == nil {
			sizes = append(sizes, s.Size())
		}
		ways[s.Size()] = append(ways[s.Size()], s)
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("no row has a time and an error to draw against it: quantized products have (bench --dtype int8:per_channel+token), and those of floats")
	}
	size := slices.MaxFunc(sizes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(ways[a]), len(ways[b])), cmp.Compare(ways[a][0].Work(), ways[b][0].Work()))
	})
	return []Picture{accuracyChart(q, size, ways[size])}, nil
}

// lost is the error of a product relative to float64 arithmetic on what was
// asked for: on operands before they were quantized, or on those of a product
// that does not quantize.
func lost(s *stats.Summary) results.Optional[float64] {
	e := s.RelErr
	if s.Quant != "" {
		e = s.QuantRelErr
	}
	e.Known = e.Known && drawable(e.Value)
	return e
}

func accuracyChart(q Request, size string, summaries []stats.Summary) *Chart {
	curves := curvesOf(summaries, false)
	all := q
	all.Dtype = cmp.Or(q.Dtype, "all")
	ch := &Chart{Heading: headingOf(all, "What speed costs at "+size, sorted(curves), true, "")}
	ch.Name = fileName(q)
	looks := slots(curves)
	names := waysOf(curves)
	left, right, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	for i := range curves {
		sum, e := curves[i].any(), lost(curves[i].any()).Value
		ch.Series = append(ch.Series, Series{
			Label: names[i], Kernel: curves[i].kernel, Shade: looks[i].shade(), Shape: looks[i].shape,
			Predicted: sum.Mode == results.Predicted,
			Points:    []Point{{X: sum.Rate.Median, Y: e, Lo: e, Hi: e}},
		})
		left, right = math.Min(left, sum.Rate.Median), math.Max(right, sum.Rate.Median)
		low, high = math.Min(low, e), math.Max(high, e)
	}
	unit := rateUnit(right, summaries[0].RateOf())
	integers := ""
	if of := summaries[0].RateOf(); of != results.Bytes {
		unit = rateUnit(right, results.FLOPs)
		integers = " (of integers " + rateUnit(right, results.OPs).Name + ")"
	}
	ch.X = Axis{Label: unit.Name + integers + ": to the right is faster", Scale: Log, Min: left / 1.5, Max: right * 1.5, Unit: unit}
	ch.Y = Axis{Label: "relative error (Frobenius) against float64, unquantized: below is better", Scale: Log, Min: low / 2, Max: high * 2, Unit: Unit{"", 1}}
	ch.Y.Ticks = errorTicks(ch.Y.Min, ch.Y.Max)
	return ch
}

// waysOf names the curves: by the way to multiply if that tells them apart, else by
// all in which they differ, the kernel first.
func waysOf(curves []*curve) []string {
	names, seen := make([]string, len(curves)), map[string]bool{}
	for i, c := range curves {
		names[i] = wayOf(c.any())
		if seen[names[i]] {
			return labels(curves, true)
		}
		seen[names[i]] = true
	}
	return names
}

// wayOf names a way to multiply, in as few words as tell it from the others.
func wayOf(s *stats.Summary) string {
	words := []string{s.DtypeA}
	if s.DtypeB != "" && s.DtypeB != s.DtypeA {
		words[0] += "×" + s.DtypeB
	}
	if s.Kernel == results.Baseline {
		words = append([]string{s.Kernel}, words...)
	}
	for _, word := range []string{s.Quant, s.Activation, s.Variant} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// scatter reports whether points stand for themselves: nothing lies between two.
func (ch *Chart) scatter() bool { return ch.Kind == Roofline || ch.Kind == Accuracy }
