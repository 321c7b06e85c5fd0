package model

import "matladder/machine"

// Intensity is FLOPs per byte moved after tiling; 0 if nothing moves.
func (c Counts) Intensity() float64 { return ratio(c.FLOPs, c.BytesMoved) }

// MinimumIntensity is FLOPs per byte if every array moved once: the upper limit
// of Intensity for any tiling.
func (c Counts) MinimumIntensity() float64 { return ratio(c.FLOPs, c.BytesMin) }

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Limit is what the roofline says holds a program back.
type Limit string

// The two roofs.
const (
	Memory  Limit = "memory"
	Compute Limit = "compute"
)

// Roofline is where a program stands under the roofs of a device (Williams,
// Waterman, Patterson 2009).
type Roofline struct {
	Intensity  float64 // FLOPs per byte moved
	Ridge      float64 // FLOPs per byte where the roofs meet
	Attainable float64 // FLOP/s: min(peak, intensity × bandwidth)
	Seconds    float64 // of one launch at that rate
	Limit      Limit
}

// At returns c under the roofline of dtype at a precision on d. It is false
// where the device's peak or bandwidth is unknown.
func (c Counts) At(d machine.Device, dtype, precision string) (Roofline, bool) {
	peak, bandwidth := d.PeakAt(dtype, precision), d.BandwidthBytesPerSecond
	if !peak.Known() || !bandwidth.Known() {
		return Roofline{}, false
	}
	r := Roofline{
		Intensity:  c.Intensity(),
		Ridge:      peak.Value / bandwidth.Value,
		Attainable: peak.Value,
		Limit:      Compute,
	}
	if memory := r.Intensity * bandwidth.Value; memory < peak.Value {
		r.Attainable, r.Limit = memory, Memory
	}
	if r.Attainable > 0 {
		r.Seconds = float64(c.FLOPs) / r.Attainable
	}
	return r, true
}
