package machine

import "maps"

// Range is from the least to the most that sources say of the figure, or between which it
// is taken to lie; its value alone where neither says more, zeros where it is unknown.
func (f Figure) Range() (low, high float64) {
	if !f.Known() {
		return 0, 0
	}
	low, high = f.Value, f.Value
	if f.Low > 0 {
		low, high = min(low, f.Low), max(high, f.High)
	}
	for _, o := range f.Others {
		if o.Known() {
			low, high = min(low, o.Value), max(high, o.Value)
		}
	}
	return low, high
}

// Extremes are the device at its slowest and at its fastest: with each figure that the
// step model takes at one end of its Range. At its fastest memory is as fast as is
// published, not as what copies attain.
func (d Device) Extremes() (slow, fast Device) {
	slow, fast = d.clone(), d.clone()
	of := func(pick func(*Device) *Figure, longer bool) {
		low, high := pick(&d).Range()
		if longer {
			low, high = high, low
		}
		pick(&slow).Value, pick(&fast).Value = low, high
	}
	for dtype := range maps.Keys(d.Peak) {
		low, high := d.Peak[dtype].Range()
		a, b := slow.Peak[dtype], fast.Peak[dtype]
		a.Value, b.Value = low, high
		slow.Peak[dtype], fast.Peak[dtype] = a, b
	}
	of(func(d *Device) *Figure { return &d.BandwidthBytesPerSecond }, false)
	of(func(d *Device) *Figure { return &d.AttainedBytesPerSecond }, false)
	of(func(d *Device) *Figure { return &d.ClockHertz }, false)
	of(func(d *Device) *Figure { return &d.OverlapExponent }, false)
	of(func(d *Device) *Figure { return &d.StepOverheadSeconds }, true)
	of(func(d *Device) *Figure { return &d.LaunchSeconds }, true)
	of(func(d *Device) *Figure { return &d.LinkBytesPerSecond }, false)
	of(func(d *Device) *Figure { return &d.HopSeconds }, true)
	fast.AttainedBytesPerSecond = Figure{}
	return slow, fast
}
