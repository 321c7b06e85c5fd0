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

func rooflinePictures(q Request, d data) ([]Picture, error) {
	ch, err := rooflineChart(q, stats.Best(d.asked), otherDtypes(q, d.all))
	if err != nil {
		return nil, err
	}
	return []Picture{ch}, nil
}

// rooflineChart draws rate against arithmetic intensity, FLOPs over the bytes
// moved after tiling, under what memory and arithmetic of the device allow.
// The baseline has no tiling of ours and so no place in it.
func rooflineChart(q Request, summaries, others []stats.Summary) (*Chart, error) {
	curves := curvesOf(summaries, false)
	ch := &Chart{}
	kept := curves[:0:0]
	for _, c := range curves {
		if s := c.roofPoints(); len(s.Points) > 0 {
			kept = append(kept, c)
			ch.Series = append(ch.Series, s)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("no row of %s has flops, bytes_moved and a time: a roofline needs all three", q.Dtype)
	}
	var drawn []stats.Summary
	looks := slots(kept)
	for i, name := range labels(kept, true) {
		s := &ch.Series[i]
		s.Label, s.Shade, s.Shape = name, looks[i].shade(), looks[i].shape
		drawn = append(drawn, *kept[i].any())
	}
	ch.Heading = headingOf(q, "Roofline", sorted(kept), true, hollow)
	ch.Roofs = roofsOf(drawn)
	if !slices.ContainsFunc(ch.Roofs, func(r Roof) bool { _, known := r.Ridge(); return known }) {
		return nil, fmt.Errorf("the rows of %s lack peak_flops or bandwidth of %s: there is no roof to draw",
			q.Dtype, cmp.Or(deviceOf(&kept[0].any().Record), "the device"))
	}
	for _, r := range roofsOf(others) {
		if !slices.ContainsFunc(ch.Roofs, func(o Roof) bool { return o.Label == r.Label }) {
			r.Other = true
			ch.Roofs = slices.Insert(ch.Roofs, 0, r)
		}
	}
	ch.setRoofAxes(summaries[0].RateOf())
	if len(machinesOf(drawn)) == 1 {
		ch.climb()
	}
	if slices.ContainsFunc(ch.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Points, func(pt Point) bool { return len(pt.Levels) > 0 })
	}) {
		ch.Subtitle = append(ch.Subtitle, levelsNote)
	}
	return ch, nil
}

// otherDtypes returns the summaries whose peaks stand beside that of q's dtype.
func otherDtypes(q Request, all []stats.Summary) []stats.Summary {
	return slices.DeleteFunc(slices.Clone(all), func(s stats.Summary) bool {
		return s.DtypeA == q.Dtype || s.Kernel == results.Baseline
	})
}

// climb leads an arrow from each measured rung to the next, at the largest
// square size that most of them have. All are of one machine.
func (ch *Chart) climb() {
	count, most, largest := map[string]int{}, 0, ""
	for _, s := range ch.Series {
		for _, pt := range s.Points { // by size, the largest last
			if s.Predicted || pt.Apart {
				continue
			}
			count[pt.Label]++
			most = max(most, count[pt.Label])
		}
	}
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			if count[pt.Label] == most {
				largest = pt.Label
			}
		}
	}
	var last *Point
	from := ""
	for i := range ch.Series {
		s := &ch.Series[i]
		at := slices.IndexFunc(s.Points, func(pt Point) bool { return pt.Label == largest && !pt.Apart })
		if s.Predicted || at < 0 {
			continue
		}
		if last != nil && s.Kernel != from {
			ch.Arrows = append(ch.Arrows, Arrow{*last, s.Points[at]})
		}
		last, from = &s.Points[at], s.Kernel
	}
	if len(ch.Arrows) > 0 {
		ch.Subtitle = append(ch.Subtitle, "arrows lead from rung to rung at size "+largest)
	}
}

// roofPoints places the curve's points by intensity: square problems in the
// order of size, the largest last, before them the others, which do not join.
func (c *curve) roofPoints() Series {
	s := Series{Kernel: c.kernel, Predicted: c.any().Mode == results.Predicted}
	var sums []*stats.Summary
	for _, sum := range c.at {
		if usable(sum) && sum.FLOPs > 0 && sum.Work() > 0 && sum.BytesMoved > 0 {
			sums = append(sums, sum)
		}
	}
	slices.SortFunc(sums, func(a, b *stats.Summary) int {
		return cmp.Or(cmp.Compare(a.Work(), b.Work()), strings.Compare(a.Size(), b.Size()))
	})
	slices.SortStableFunc(sums, func(a, b *stats.Summary) int {
		switch {
		case square(a) == square(b):
			return 0
		case square(b):
			return -1
		}
		return 1
	})
	for _, sum := range sums {
		s.Points = append(s.Points, Point{
			X: sum.Work() / float64(sum.BytesMoved),
			Y: sum.Rate.Median, Lo: sum.Rate.Lo, Hi: sum.Rate.Hi,
			Label: sum.Size(), Apart: !square(sum), Rough: !sum.Rate.Holds(),
			Levels: levelsOf(sum),
		})
	}
	return s
}

// setRoofAxes fits both axes round the points, the ridges and the peaks.
func (ch *Chart) setRoofAxes(of results.Unit) {
	left, right, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	var middle []float64 // of intervals
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			left, right = math.Min(left, pt.X), math.Max(right, pt.X)
			left, right = reachLevels(pt, left, right)
			if !pt.Rough {
				low, high = math.Min(low, pt.Lo), math.Max(high, pt.Hi)
			}
			middle = append(middle, pt.Y)
		}
	}
	if high == 0 { // none can be relied on
		low, high = slices.Min(middle), slices.Max(middle)
	}
	for _, r := range ch.Roofs {
		if ridge, known := r.Ridge(); known {
			left, right = math.Min(left, ridge), math.Max(right, ridge)
		}
		high = math.Max(high, r.Peak)
	}
	// Room for the memory roof and its name, however far right the points lie.
	air := math.Max(2, math.Pow(right/left, 0.3))
	unit := rateUnit(high, of)
	bytes, label := "FLOP/byte", "arithmetic intensity: FLOPs over bytes moved after tiling (FLOP/byte)"
	switch of {
	case results.OPs:
		bytes, label = "OP/byte", "arithmetic intensity: OPs over bytes moved after tiling (OP/byte)"
	case results.Bytes:
		bytes, label = "", "the least bytes that can move, over bytes moved after tiling"
	}
	ch.X = Axis{Label: label, Scale: Log,
		Min: left / air, Max: right * 2, Unit: Unit{bytes, 1}}
	ch.Y = Axis{Label: unit.Name, Scale: Log, Min: low / 2, Max: high * 1.5, Unit: unit}
	for i := range ch.Roofs {
		r := &ch.Roofs[i]
		r.Label += " " + rateUnit(high, r.Of).Format(r.Peak)
		if r.Bandwidth > 0 && !r.Other {
			r.BandwidthLabel = "memory " + bandwidthName(r.Bandwidth)
		}
	}
}

func bandwidthName(bytesPerSecond float64) string {
	if bytesPerSecond >= 1e12 {
		return digits(bytesPerSecond/1e12) + " TB/s"
	}
	return digits(bytesPerSecond/1e9) + " GB/s"
}
