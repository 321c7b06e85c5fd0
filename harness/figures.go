package harness

import (
	"context"
	"fmt"
	"math"

	"matladder/harness/measure"
	"matladder/machine"
	"matladder/results"
)

// figured is the device that has the figures of a point.
func (r *run) figured(p Point) machine.Device {
	if b, own := p.on(&r.opt); own {
		return b.Device()
	}
	return r.sweep.Device
}

// figures writes the peak and bandwidth that a point is held against.
func (r *run) figures(row *results.Record, p Point) {
	d := r.bounds.On(r.figured(p))
	peak := measure.PeakFor(d, p.Problem)
	row.PeakFLOPs, row.PeakSource = peak.Value, peak.Source
	row.Bandwidth, row.BandwidthSource = d.BandwidthBytesPerSecond.Value, d.BandwidthBytesPerSecond.Source
	if r.sweep.Predict { // devices of a mesh are as many as the device; those of a machine are parts of it
		row.PeakFLOPs *= float64(p.devices())
		row.Bandwidth *= float64(p.devices())
		row.PeakSource += disputed(peak)
		row.BandwidthSource += disputed(d.BandwidthBytesPerSecond)
	}
}

// disputed says which sources have figures that would change a prediction.
func disputed(f machine.Figure) string {
	const much = 0.05
	s := ""
	for _, o := range f.Others {
		if o.Known() && math.Abs(o.Value/f.Value-1) > much {
			s += fmt.Sprintf("; %.4g: %s", o.Value, o.Source)
		}
	}
	return s
}

// judge fills in the columns of peak and bandwidth. It returns why a launch of a point cannot
// have taken seconds, "" if it can.
func (r *run) judge(ctx context.Context, row *results.Record, p Point, seconds float64) string {
	if r.sweep.Predict {
		seconds *= float64(p.devices()) // as if one after the other did its part
	}
	reason := r.bounds.Impossible(ctx, r.figured(p), p.Problem, seconds)
	r.figures(row, p) // which may have been measured just now
	return reason
}
