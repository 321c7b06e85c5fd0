package machine

import "matladder/tile"

// Machine is what kernels may know of d.
func (d Device) Machine() tile.Machine {
	m := tile.Machine{FastBytes: int64(d.FastBytes.Value), Parallel: max(1, d.Parallel), Align: map[tile.Dtype][2]int{}, Cores: d.Blocking}
	if d.Kind == TPU {
		m.Granted = int64(d.FastDefaultBytes.Value)
		m.Pipeline = d.pipeline()
	}
	if d.Kind == GPU { // half of the registers of a multiprocessor: the rest is for what surrounds it
		m.AccumulatorBytes = 128 << 10
	}
	for name, align := range d.Align {
		if dtype, err := tile.ParseDtype(name); err == nil {
			m.Align[dtype] = align
		}
	}
	return m
}

// Ahead is where the compiler puts an input of a launch behind the launch before, if it is
// let: on a v4 in the memory between, on later TPUs in VMEM.
func (d Device) Ahead() tile.Ahead {
	switch {
	case d.Kind != TPU || !d.FastDefaultBytes.Known():
		return tile.Ahead{}
	case d.BetweenBytes.Known():
		return tile.Ahead{Bytes: int64(d.BetweenBytes.Value), Apart: true}
	}
	return tile.Ahead{Bytes: int64(d.FastBytes.Value), Keeps: d.Keeps}
}

// drainCycles is what the sums of a step wait for at its end: the depth of a TPU's matrix
// units. Schedules of blocks of 128³ have 130 to 180 bundles beside their products.
const drainCycles = 150

// pipeline is what the step model knows of d; nil if that is not enough.
func (d Device) pipeline() *tile.Pipeline {
	cores := max(1, d.Cores)
	bandwidth := d.BandwidthBytesPerSecond
	if d.AttainedBytesPerSecond.Known() {
		bandwidth = d.AttainedBytesPerSecond
	}
	if !bandwidth.Known() || !d.StepOverheadSeconds.Known() || !d.OverlapExponent.Known() || !d.ClockHertz.Known() {
		return nil
	}
	p := &tile.Pipeline{
		Unit: d.MXUSide, Pass: d.MXUColumns, Rates: map[tile.Dtype]float64{}, Memory: bandwidth.Value / float64(cores), Cores: cores,
		Step: d.StepOverheadSeconds.Value, Overlap: d.OverlapExponent.Value, Drain: drainCycles / d.ClockHertz.Value,
	}
	for _, dtype := range tile.Dtypes() {
		peak := d.PeakAt(dtype.String(), "")
		if !peak.Known() { // widened
			peak = d.PeakAt(tile.BFloat16.String(), "")
		}
		p.Rates[dtype] = peak.Value / float64(cores)
	}
	return p
}
