package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/machine"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// rooflinePictures draws rate against arithmetic intensity, FLOPs over the bytes
// moved after tiling, under what memory and arithmetic of the device allow: a point for
// each kernel with its fastest blocks, at the largest size that most ran at. The baseline has no
// tiling of ours and so no place in it.
func rooflinePictures(q Request, d data) ([]figure.Picture, error) {
	placed := slices.DeleteFunc(running(stats.Best(d.asked)), func(s stats.Summary) bool {
		return s.FLOPs <= 0 || s.Work() <= 0 || s.BytesMoved <= 0
	})
	if len(placed) == 0 {
		return nil, fmt.Errorf("no row of %s has flops, bytes_moved and a time: a roofline needs all three", q.Dtype)
	}
	if !slices.ContainsFunc(placed, func(s stats.Summary) bool { return drawable(s.Roof()) && drawable(s.Bandwidth) }) {
		return nil, fmt.Errorf("the rows of %s lack peak_flops or bandwidth of %s: there is no roof to draw",
			q.Dtype, cmp.Or(deviceOf(&placed[0].Record), "the device"))
	}
	return apart(placed, func(part []stats.Summary) figure.Picture { return rooflineChart(q, part) }), nil
}

func rooflineChart(q Request, placed []stats.Summary) *figure.Chart {
	size := commonSize(placed, func(s *stats.Summary) string { return s.Kernel })
	curves := curvesOf(slices.DeleteFunc(slices.Clone(placed), func(s stats.Summary) bool { return s.Size() != size }), false)
	ch := &figure.Chart{Heading: headingOf(q, "Roofline at "+size, sorted(curves), false, hollowWords), Scatter: true, Slopes: true}
	ch.Subtitle = append(ch.Subtitle, "each kernel with its fastest block shape, at the largest size that most ran at")
	var shown []stats.Summary
	counted, looks := false, slots(curves)
	for i, label := range labels(curves, true) {
		sum, s := curves[i].any(), looks[i].series(label, curves[i])
		pt := pointOf(sum.Work()/float64(sum.BytesMoved), sum.Rate)
		pt.Label, pt.Levels = short(sum.Kernel), levelsOf(sum)
		counted = counted || len(pt.Levels) > 0
		s.Points = append(s.Points, pt)
		ch.Series = append(ch.Series, s)
		shown = append(shown, *sum)
	}
	ch.Roofs = roofsOf(shown)
	if n := float64(shown[0].Threads); n > 1 && len(ch.Roofs) == 1 { // what a kernel that is one program runs under
		ch.Roofs = append(ch.Roofs, figure.Roof{Label: "of one thread", Peak: ch.Roofs[0].Peak / n, Bandwidth: ch.Roofs[0].Bandwidth, Other: true})
	}
	fitRoofline(ch, shown[0].RateOf())
	if counted {
		ch.Subtitle = append(ch.Subtitle, "marks L2 and L3: work over the bytes that this cache lacked, as processors counted them")
	}
	return ch
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

// fitRoofline fits both axes round the points, the ridges and the peaks, and names the roofs.
func fitRoofline(ch *figure.Chart, of results.Unit) {
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
		r.Label += " " + unit.Format(r.Peak)
		name := figure.Unit{Name: "GB/s", Value: 1e9}
		if r.Bandwidth >= 1e12 {
			name = figure.Unit{Name: "TB/s", Value: 1e12}
		}
		if r.Bandwidth > 0 && !r.Other {
			r.BandwidthLabel = "memory " + name.Format(r.Bandwidth)
		}
	}
}

// roofsOf returns a roof for each device and dtype. The newest row wins, since a measured peak
// differs a little from run to run. Baseline rows are used only if no kernel row has a roof.
func roofsOf(summaries []stats.Summary) (roofs []figure.Roof) {
	type id struct{ device, dtype string }
	var devices []id
	var stated map[id][]stats.Summary
	for _, baseline := range []bool{false, true} {
		if len(devices) == 0 {
			of := slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool {
				return !drawable(s.Roof()) || (s.Kernel == results.Baseline) != baseline
			})
			devices, stated = each.Grouped(of, func(s *stats.Summary) id { return id{deviceOf(&s.Record), s.DtypeA} })
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
		if several {
			r.Label = words.Between("", id.device, " ") + r.Label
		}
		if drawable(s.Bandwidth) {
			r.Bandwidth = s.Bandwidth
		}
		roofs = append(roofs, r)
	}
	return roofs
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
