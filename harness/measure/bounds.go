package measure

import (
	"context"
	"fmt"
	"slices"

	"matladder/backend"
	"matladder/machine"
	"matladder/problem"
)

// Bounds hold times against what a device can do: a launch that was faster was not
// waited for. The zero value holds them against the device's figures as they are.
type Bounds struct {
	// Prober measures the device's figures once more where a launch beats them: they were
	// measured, perhaps, while others had the machine. It may be nil.
	Prober backend.Prober

	probed machine.Device // what it has found, if it was asked
	probes int
}

// On is a device with what probes have found meanwhile.
func (b *Bounds) On(d machine.Device) machine.Device { return d.Remeasured(b.probed) }

// mostProbes bounds how often figures are measured: what is beaten even then is beaten again.
const mostProbes = 3

// Impossible is why a launch of p cannot have taken seconds on d, "" if it can.
func (b *Bounds) Impossible(ctx context.Context, d machine.Device, p problem.Problem, seconds float64) string {
	for b.Prober != nil && b.probes < mostProbes && beats(b.On(d), p, seconds) {
		b.probed = b.Prober.Probe(ctx)
		b.probes++
	}
	return impossible(b.On(d), p, seconds)
}

// A rate may be up to measuredMargin times a figure that was itself measured. Documented
// figures have no margin.
const measuredMargin = 1.15

func impossible(d machine.Device, p problem.Problem, seconds float64) string {
	if !(seconds > 0) {
		return "took no time: the launch was not waited for, or the clock stands still"
	}
	for _, c := range claims(d, p, seconds) {
		most := c.most.Value
		if c.most.Measured {
			most *= measuredMargin
		}
		if c.rate > most {
			return fmt.Sprintf("%.4g %s of %.4g (%s): the launch was not waited for, or %s", c.rate, c.above, c.most.Value, c.most.Source, c.or)
		}
	}
	return ""
}

// beats reports whether a launch of p that took seconds beats a figure that was
// measured on d, which other work on the machine may have made too low.
func beats(d machine.Device, p problem.Problem, seconds float64) bool {
	return seconds > 0 && slices.ContainsFunc(claims(d, p, seconds), func(c claim) bool {
		return c.most.Measured && c.rate > c.most.Value
	})
}

// A claim is a rate that a launch would have had, beside the figure that bounds it.
type claim struct {
	rate      float64
	most      machine.Figure
	above, or string // for people: what it is above, and what else may be wrong
}

// claims are those of a launch of p that took seconds, as far as d has figures.
func claims(d machine.Device, p problem.Problem, seconds float64) []claim {
	var list []claim
	if peak := PeakFor(d, p); peak.Known() {
		list = append(list, claim{float64(p.FLOPs()) / seconds, peak,
			fmt.Sprintf("FLOP/s is above the %s peak", p.Asked().Factor()), "the peak is not this device's"})
	}
	bandwidth := d.BandwidthBytesPerSecond
	if bytes := beyondCache(d, p.Bytes()); bytes > 0 && bandwidth.Known() && d.LastLevelCacheBytes.Known() {
		list = append(list, claim{float64(bytes) / seconds, bandwidth,
			"bytes/s beyond the last-level cache is above the bandwidth", "operands were not read"})
	}
	return list
}

// PeakFor is the peak of d that bounds the FLOPs of p.
func PeakFor(d machine.Device, p problem.Problem) machine.Figure {
	return d.PeakAt(p.Asked().Factor().String(), p.Asked().Precision.String())
}

// LeastTime is the least time in seconds that a launch of p can take on d; 0 if its
// figures are unknown.
func LeastTime(d machine.Device, p problem.Problem) float64 {
	var t float64
	if peak := PeakFor(d, p); peak.Known() {
		t = float64(p.FLOPs()) / peak.Value
	}
	if d.BandwidthBytesPerSecond.Known() {
		t = max(t, float64(beyondCache(d, p.Bytes()))/d.BandwidthBytesPerSecond.Value)
	}
	return t
}

// beyondCache is the part of a footprint that must come from main memory
// in each launch, since the last-level cache cannot keep it.
func beyondCache(d machine.Device, bytes int64) int64 {
	return max(0, bytes-int64(d.LastLevelCacheBytes.Value))
}
