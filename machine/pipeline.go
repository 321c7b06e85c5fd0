package machine

import (
	"fmt"

	"matladder/tile"
)

// Pipeline is a core that brings the blocks of the next step into fast memory while it
// computes with those of this one.
type Pipeline struct {
	Rates   map[tile.Dtype]float64 // FLOPs/s of one core by dtype of the operands
	Memory  float64                // bytes/s that one core moves
	Step    float64                // seconds that a step takes beside computing and moving
	Drain   float64                // seconds until a step's first sums leave the matrix unit
	Overlap float64                // p: both together take (compute^p + move^p)^(1/p)
	Cores   int                    // that share a grid
	Unit    int                    // side of the matrix units
	Pass    int                    // columns of a product that a row of a meets at one time
}

// drainCycles is what the sums of a step wait for at its end: the depth of a TPU's matrix
// units. Schedules of blocks of 128³ have 130 to 180 bundles beside their products.
const drainCycles = 150

// Pipeline are d's cores as the step model takes them. The error names the figure that is missing.
func (d Device) Pipeline() (*Pipeline, error) {
	for _, f := range []struct {
		name string
		Figure
	}{
		{"bandwidth", d.BandwidthBytesPerSecond}, {"clock", d.ClockHertz},
		{"step overhead", d.StepOverheadSeconds}, {"overlap exponent", d.OverlapExponent},
	} {
		if !f.Known() {
			return nil, fmt.Errorf("%s: no %s is known", d.Key, f.name)
		}
	}
	// One core of several has its part of the peak in any case, of the memory too
	// where it works alone: it cannot fill the whole device's bandwidth.
	cores, bandwidth := max(1, d.Cores), d.BandwidthBytesPerSecond
	if d.AttainedBytesPerSecond.Known() {
		bandwidth = d.AttainedBytesPerSecond
	}
	p := &Pipeline{
		Unit: d.MXUSide, Pass: d.MXUColumns, Rates: map[tile.Dtype]float64{}, Memory: bandwidth.Value / float64(cores), Cores: cores,
		Step: d.StepOverheadSeconds.Value, Overlap: d.OverlapExponent.Value, Drain: drainCycles / d.ClockHertz.Value,
	}
	for _, dtype := range tile.Dtypes() {
		peak := d.PacedPeak(dtype.String(), "")
		if !peak.Known() { // widened
			peak = d.PacedPeak(tile.BFloat16.String(), "")
		}
		p.Rates[dtype] = peak.Value / float64(cores)
	}
	return p, nil
}

// Prefetch says where a compiler puts the largest input of a launch behind the launch before,
// so that no step waits for it (XLA's cross-program prefetch). The zero value is a machine on
// which all inputs are in main memory when a launch begins.
type Prefetch struct {
	Bytes int64 // of that memory
	Apart bool  // from fast memory: blocks are still brought. Else it is all of fast memory, and blocks are read where they lie
	// Keeps says that the compiler copies inputs inside of launches too, as it likes: what is
	// prefetched must fit twice, or leave it hardly any room.
	Keeps bool
}

// Prefetch is on a v4 to the memory between, on later TPUs to VMEM.
func (d Device) Prefetch() Prefetch {
	switch {
	case d.Kind != TPU || !d.FastDefaultBytes.Known():
		return Prefetch{}
	case d.BetweenBytes.Known():
		return Prefetch{Bytes: int64(d.BetweenBytes.Value), Apart: true}
	}
	return Prefetch{Bytes: int64(d.FastBytes.Value), Keeps: d.Keeps}
}
