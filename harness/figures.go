package harness

import (
	"context"
	"fmt"
	"math"
	"slices"

	"matladder/chips"
	"matladder/problem"
	"matladder/results"
)

// device is the one that a point runs on, with what probes have found meanwhile.
func (r *run) device(p Point) chips.Device {
	d := r.sweep.Device
	if b, own := p.on(&r.opt); own {
		d = b.Device()
	}
	return d.Remeasured(r.probed)
}

// figures writes the peak and bandwidth that a point is held against.
func (r *run) figures(row *results.Record, p Point) {
	d := r.device(p)
	peak := peakFor(d, p.Problem)
	row.PeakFLOPs, row.PeakSource = peak.Value, peak.Source
	row.Bandwidth, row.BandwidthSource = d.BandwidthBytesPerSecond.Value, d.BandwidthBytesPerSecond.Source
	if r.sweep.Predict {
		row.PeakSource += disputed(peak)
		row.BandwidthSource += disputed(d.BandwidthBytesPerSecond)
	}
}

// peakFor is the peak of d that bounds the FLOPs of p.
func peakFor(d chips.Device, p problem.Problem) chips.Figure {
	return d.PeakAt(p.Factor().String(), p.Asked().Precision.String())
}

// disputed says which sources have figures that would change a prediction.
func disputed(f chips.Figure) string {
	const much = 0.05
	s := ""
	for _, o := range f.Others {
		if o.Known() && math.Abs(o.Value/f.Value-1) > much {
			s += fmt.Sprintf("; %.4g: %s", o.Value, o.Source)
		}
	}
	return s
}

// judge is figures and why, by them, a launch of a point cannot have taken seconds, ""
// if it can. One that beats a figure which was measured, perhaps while others had the
// machine, has it measured once more.
func (r *run) judge(ctx context.Context, row *results.Record, p Point, seconds float64) string {
	const most = 3 // times: what is beaten even then is beaten again
	for r.opt.Prober != nil && r.probes < most && beats(r.device(p), p.Problem, seconds) {
		r.probed = r.opt.Prober.Probe(ctx)
		r.probes++
	}
	r.figures(row, p)
	return impossible(r.device(p), p.Problem, seconds)
}

// measuredMargin is how far a figure may lie above one that was itself measured.
const measuredMargin = 1.15

func margin(f chips.Figure) float64 {
	if f.Measured {
		return measuredMargin
	}
	return 1
}

// impossible returns why a launch of p cannot have taken seconds on d, "" if it
// can.
func impossible(d chips.Device, p problem.Problem, seconds float64) string {
	if !(seconds > 0) {
		return "took no time: the launch was not waited for, or the clock stands still"
	}
	for _, c := range claims(d, p, seconds) {
		if c.rate > c.most.Value*margin(c.most) {
			return fmt.Sprintf("%.4g %s of %.4g (%s): the launch was not waited for, or %s", c.rate, c.above, c.most.Value, c.most.Source, c.or)
		}
	}
	return ""
}

// beats reports whether a launch of p that took seconds beats a figure that was
// measured on d, which other work on the machine may have made too low.
func beats(d chips.Device, p problem.Problem, seconds float64) bool {
	return seconds > 0 && slices.ContainsFunc(claims(d, p, seconds), func(c claim) bool {
		return c.most.Measured && c.rate > c.most.Value
	})
}

// A claim is a rate that a launch would have had, beside the figure that bounds it.
type claim struct {
	rate      float64
	most      chips.Figure
	above, or string // for people: what it is above, and what else may be wrong
}

// claims are those of a launch of p that took seconds, as far as d has figures.
func claims(d chips.Device, p problem.Problem, seconds float64) []claim {
	var list []claim
	if peak := peakFor(d, p); peak.Known() {
		list = append(list, claim{float64(p.FLOPs()) / seconds, peak,
			fmt.Sprintf("FLOP/s is above the %s peak", p.Factor()), "the peak is not this device's"})
	}
	bandwidth := d.BandwidthBytesPerSecond
	if bytes := beyondCache(d, p.Bytes()); bytes > 0 && bandwidth.Known() && d.LastLevelCacheBytes.Known() {
		list = append(list, claim{float64(bytes) / seconds, bandwidth,
			"bytes/s beyond the last-level cache is above the bandwidth", "operands were not read"})
	}
	return list
}
