package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"matladder/machine"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// rooflinePictures draws rate against arithmetic intensity, FLOPs over the bytes
// moved after tiling, under what memory and arithmetic of the device allow.
// The baseline has no tiling of ours and so no place in it.
func rooflinePictures(q Request, d data) ([]figure.Picture, error) {
	summaries := stats.Best(d.asked)
	ch := &figure.Chart{Scatter: true, Slopes: true}
	kept := slices.DeleteFunc(curvesOf(summaries, false), func(c *curve) bool { return len(c.placed()) == 0 })
	if len(kept) == 0 {
		return nil, fmt.Errorf("no row of %s has flops, bytes_moved and a time: a roofline needs all three", q.Dtype)
	}
	var first []stats.Summary // of each curve
	counted, looks := false, slots(kept)
	for i, label := range labels(kept, true) {
		s := looks[i].series(label, kept[i])
		for _, sum := range kept[i].placed() {
			pt := pointOf(intensity(sum), sum.Rate)
			pt.Label, pt.Apart, pt.Levels = sum.Size(), !square(sum), levelsOf(sum)
			counted = counted || len(pt.Levels) > 0
			s.Points = append(s.Points, pt)
		}
		ch.Series = append(ch.Series, s)
		first = append(first, *kept[i].any())
	}
	ch.Heading = headingOf(q, "Roofline", sorted(kept), true, hollowWords)
	roofs, units := roofsOf(first)
	if !slices.ContainsFunc(roofs, func(r figure.Roof) bool { _, known := r.Ridge(); return known }) {
		return nil, fmt.Errorf("the rows of %s lack peak_flops or bandwidth of %s: there is no roof to draw",
			q.Dtype, cmp.Or(deviceOf(&kept[0].any().Record), "the device"))
	}
	others, otherUnits := roofsOf(slices.DeleteFunc(d.all, func(s stats.Summary) bool { return s.DtypeA == q.Dtype || s.Kernel == results.Baseline }))
	for i, r := range others { // peaks of other dtypes stand beside
		if !slices.ContainsFunc(roofs, func(o figure.Roof) bool { return o.Label == r.Label }) {
			r.Other = true
			roofs, units = slices.Insert(roofs, 0, r), slices.Insert(units, 0, otherUnits[i])
		}
	}
	ch.Roofs = roofs
	fitRoofline(ch, summaries[0].RateOf(), units)
	if len(distinct(first, machineOf)) == 1 {
		climb(ch, kept)
	}
	if counted {
		ch.Subtitle = append(ch.Subtitle, "marks L2 and L3: work over the bytes that this cache lacked, as processors counted them")
	}
	return []figure.Picture{ch}, nil
}

func intensity(s *stats.Summary) float64 { return s.Work() / float64(s.BytesMoved) }

// placed are the points that have an intensity: square problems in the
// order of size, the largest last, before them the others, which do not join.
func (c *curve) placed() (list []*stats.Summary) {
	for _, s := range c.at {
		if usable(s) && s.FLOPs > 0 && s.Work() > 0 && s.BytesMoved > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *stats.Summary) int {
		return cmp.Or(cmp.Compare(rank(square(a)), rank(square(b))), cmp.Compare(a.Work(), b.Work()), cmp.Compare(a.Size(), b.Size()))
	})
	return list
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// levelsOf are the arithmetic intensities of a point by the bytes that missed a cache, as bench
// --counters counted them, and not by those that its grid moves.
func levelsOf(s *stats.Summary) (list []figure.Level) {
	for _, c := range []struct {
		name  string
		bytes func() (float64, bool)
	}{{"L2", s.Events.L2Bytes}, {"L3", s.Events.L3Bytes}} {
		if bytes, known := c.bytes(); known && bytes > 0 {
			list = append(list, figure.Level{Name: c.name, X: s.Work() / bytes})
		}
	}
	return list
}

// climb leads an arrow from each measured rung to the next, at the largest
// square size that most of them have. All are of one machine.
func climb(ch *figure.Chart, curves []*curve) {
	count, most, largest := map[string]int{}, 0, ""
	for _, s := range ch.Series {
		for _, pt := range s.Points { // by size, the largest last
			if !s.Predicted && !pt.Apart {
				count[pt.Label]++
				most = max(most, count[pt.Label])
			}
		}
	}
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			if count[pt.Label] == most {
				largest = pt.Label
			}
		}
	}
	var last *figure.Point
	from := ""
	for i, s := range ch.Series {
		at := slices.IndexFunc(s.Points, func(pt figure.Point) bool { return pt.Label == largest && !pt.Apart })
		if s.Predicted || at < 0 {
			continue
		}
		if last != nil && curves[i].kernel != from {
			ch.Arrows = append(ch.Arrows, figure.Arrow{From: *last, To: s.Points[at]})
		}
		last, from = &s.Points[at], curves[i].kernel
	}
	if len(ch.Arrows) > 0 {
		ch.Subtitle = append(ch.Subtitle, "arrows lead from rung to rung at size "+largest)
	}
}

// fitRoofline fits both axes round the points, the ridges and the peaks, and names the roofs,
// whose peaks are in units.
func fitRoofline(ch *figure.Chart, of results.Unit, units []results.Unit) {
	// How far from its point, in steps of ten, a level may lie that the axis makes room
	// for: operands that stay in a cache miss next to nothing.
	const reach = 1.5
	left, right, low, high := math.Inf(1), 0.0, math.Inf(1), 0.0
	var middle []float64 // of intervals
	for _, s := range ch.Series {
		for _, pt := range s.Points {
			left, right = math.Min(left, pt.X), math.Max(right, pt.X)
			for _, l := range pt.Levels {
				if math.Abs(math.Log10(l.X/pt.X)) <= reach {
					left, right = math.Min(left, l.X), math.Max(right, l.X)
				}
			}
			if !pt.LowConfidence {
				low, high = math.Min(low, pt.Lo), math.Max(high, pt.Hi)
			}
			middle = append(middle, pt.Y)
		}
	}
	if high == 0 { // all are of low confidence
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
	ch.X = figure.Axis{Label: label, Scale: figure.Log, Min: left / air, Max: right * 2, Unit: figure.Unit{Name: bytes, Value: 1}}
	ch.Y = figure.Axis{Label: unit.Name, Scale: figure.Log, Min: low / 2, Max: high * 1.5, Unit: unit}
	for i := range ch.Roofs {
		r := &ch.Roofs[i]
		r.Label += " " + rateUnit(high, units[i]).Format(r.Peak)
		name := figure.Unit{Name: "GB/s", Value: 1e9}
		if r.Bandwidth >= 1e12 {
			name = figure.Unit{Name: "TB/s", Value: 1e12}
		}
		if r.Bandwidth > 0 && !r.Other {
			r.BandwidthLabel = "memory " + name.Format(r.Bandwidth)
		}
	}
}

// roofsOf returns a roof for each device and dtype, and the unit of each peak. The newest row
// wins, since a measured peak differs a little from run to run. Baseline rows are used only if
// no kernel row has a roof.
func roofsOf(summaries []stats.Summary) (roofs []figure.Roof, units []results.Unit) {
	type id struct{ device, dtype string }
	var devices []id
	var stated map[id][]stats.Summary
	for _, baseline := range []bool{false, true} {
		if len(devices) == 0 {
			of := slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool {
				return !drawable(s.Roof()) || (s.Kernel == results.Baseline) != baseline
			})
			devices, stated = grouped(of, func(s *stats.Summary) id { return id{deviceOf(&s.Record), s.DtypeA} })
		}
	}
	several := slices.ContainsFunc(devices, func(i id) bool { return i.device != devices[0].device })
	for _, id := range devices {
		s := &stated[id][0]
		measured := false
		for i := range stated[id] {
			if o := &stated[id][i]; s.StartedAt.Before(o.StartedAt) {
				s = o
			}
			measured = measured || stated[id][i].Mode == results.Measured
		}
		r := figure.Roof{Label: roofOf(Request{Dtype: s.DtypeA}, s), Peak: s.Roof(), Predicted: !measured}
		if several && id.device != "" {
			r.Label = id.device + " " + r.Label
		}
		if drawable(s.Bandwidth) {
			r.Bandwidth = s.Bandwidth
		}
		roofs, units = append(roofs, r), append(units, s.RateOf())
	}
	return roofs, units
}

// roofOf names what rates are held against.
func roofOf(q Request, s *stats.Summary) string {
	if s.Figure == results.PerBytes {
		return s.RoofName()
	}
	return q.Dtype + " peak"
}

// deviceOf is how people know the device of a row.
func deviceOf(r *results.Record) string { return machine.CommonName(cmp.Or(r.Device, r.Chip)) }
