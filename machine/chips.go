// Package machine holds hardware facts: what a device can do per second, what it
// can hold, and who says so.
//
//	chips.yaml (embedded) ─► strict parse ─► []Device ─► Lookup by any spelling of a name
//
// One Device is one device as PJRT exposes it, which is not always one chip: a
// TPU v7x chip is two devices, a TPU v4 or v5p chip one device of two cores
// (megacore). Every figure names its source; where sources disagree the other
// values stay beside the chosen one, with the reason for the choice.
//
// A backend may also make a Device by hand, with figures it measured.
//
// The package computes no figure from geometry, guesses no missing one (unknown
// is unknown, never 0), and refuses a name that fits two devices.
package machine

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Precision values of a float32 product; all other dtypes have only the default.
const (
	PrecisionDefault = "default"
	PrecisionHighest = "highest"
)

// Float32Highest is the key in Device.Peak of float32 products at
// PrecisionHighest. Key "float32" is the default precision, at which
// accelerators round the operands: one bfloat16 pass on TPU, TF32 on GPU.
const Float32Highest = "float32_highest"

// Figure is one number about a device. The zero Figure is unknown.
type Figure struct {
	Value    float64   // in the unit of the field that holds it; 0 if unknown
	Source   string    // who says so
	Measured bool      // measured on this machine, not published
	At       time.Time // when it was measured; zero if it was not, or that is not known
	Why      string    // why this value among Others; or why there is none
	Others   []Figure
	Low      float64 // where Value is a guess, between this and High it is taken to lie; 0 if it is none
	High     float64
}

// Known reports whether the figure has a value.
func (f Figure) Known() bool { return f.Value > 0 }

// scaled returns the figure and its alternatives times s.
func (f Figure) scaled(s float64) Figure {
	f.Value, f.Low, f.High = f.Value*s, f.Low*s, f.High*s
	f.Others = slices.Clone(f.Others)
	for i, o := range f.Others {
		f.Others[i] = o.scaled(s)
	}
	return f
}

// Kinds of device.
const (
	TPU = "tpu"
	GPU = "gpu"
	CPU = "cpu"
)

// Device is one device as PJRT exposes it, or the host CPU as a whole.
type Device struct {
	Key    string   // "tpu_v5e": unique, stable, written into results
	Names  []string // spellings of it: PJRT device kinds first, then topology and product names
	Vendor string
	Kind   string // TPU, GPU or CPU
	Note   string
	Arch   string // of a GPU that compilers are told of, as they call it: sm_90a, gfx942

	Cores          int // cores inside the device: 2 in a megacore, streaming multiprocessors, CPU cores
	DevicesPerChip int // devices the chip is exposed as
	Parallel       int // programs that truly run at once
	MXUs           int // matrix units of one core; 0 if it has none or it is unknown
	MXUSide        int // rows and columns of one matrix unit
	MXUColumns     int // of a product that a row of a meets at one time: one unit's, or those of units that share the row

	// Keeps says that a TPU's compiler copies inputs into VMEM inside of launches too.
	Keeps bool

	// Peak is the highest rate of dense products by input dtype, of the whole
	// device: FLOP/s, for integers OP/s; one multiply-add is two. Keys are dtype
	// names (float32, bfloat16, float8_e4m3fn, int8 …) and Float32Highest.
	Peak                    map[string]Figure
	BandwidthBytesPerSecond Figure // main memory, whole device
	MemoryBytes             Figure // main memory, whole device

	// FastBytes is the fast memory one program can have: VMEM of one TPU core,
	// shared memory of one GPU block, L2 of one CPU core.
	FastBytes Figure
	// FastDefaultBytes is the part of FastBytes the compiler grants unless asked
	// for more; FastBytes where unknown.
	FastDefaultBytes Figure
	// BetweenBytes is a core's part of a memory between main and fast memory: CMEM of a TPU.
	BetweenBytes Figure
	// LastLevelCacheBytes is on-chip memory in front of main memory, whole
	// device, where operands may stay from one launch to the next.
	LastLevelCacheBytes Figure

	// What the model of a GPU takes beyond these; NVIDIA's constants stand in for what is unknown.
	L2Caches                int    // each of as many cores, between which programs go in turn; 0 for one of all
	L2BytesPerClock         Figure // that a core can load through its L2 cache
	FastBytesPerClock       Figure // that a core reads of its fast memory
	LastLevelBytesPerSecond Figure // from the last-level cache to all L2 caches, where it is apart from those

	// What the step model of package model needs beyond peaks and bandwidth.
	// They are of one core: no part of them is shared out.
	ClockHertz Figure // bundles issued per second
	// PStates are the clocks of a chip by power state, and Peak then that of the fastest;
	// nil where they are not known.
	PStates             map[int]Figure
	StepOverheadSeconds Figure // what every grid step costs beside computing and moving
	// OverlapExponent p says how well moving and computing overlap: together they
	// take (compute^p + move^p)^(1/p), which is the longer of the two for a large p.
	OverlapExponent Figure
	// DispatchSeconds is what a launch from the host adds to the device's time.
	DispatchSeconds Figure
	// LaunchSeconds is what a launch costs on the device before its first block comes
	// in and after its last has gone out.
	LaunchSeconds Figure
	// AttainedBytesPerSecond is what copies of large arrays reach of
	// BandwidthBytesPerSecond, whole device, reads and writes together.
	AttainedBytesPerSecond Figure

	// SustainedShare is the part of the peak that large products keep up under load, on inputs that
	// cost much power; WarpShare that of products of one warp, on a GPU that has wider ones.
	SustainedShare, WarpShare Figure

	// How chips of a pod are linked. LinkBytesPerSecond is of one link in one direction,
	// HopSeconds what it takes beside that to pass one link, CollectiveSeconds what a
	// collective takes beside both: its start. No part of them is shared out.
	LinkBytesPerSecond Figure
	HopSeconds         Figure
	CollectiveSeconds  Figure
	Torus              Torus

	// Align gives, by dtype, of which numbers of rows (sublanes) and columns
	// (lanes) a block's last two sizes should be multiples.
	Align       map[string][2]int
	AlignSource string

	// Blocking is what block shapes are ranked by where programs run on cores with caches,
	// as measured on this machine; nil elsewhere.
	Blocking *Cores
}

// Torus is the largest pod of a generation. The zero Torus is unknown.
type Torus struct {
	Pod    []int // chips along each dimension
	Wrap   int   // in two dimensions the length at which one wraps round; in three, all do where each is a multiple of it
	Source string
}

// PeakAt is the peak for operands of dtype at a precision (PrecisionDefault or
// PrecisionHighest; "" is the default). A CPU computes float32 in float32 at any
// precision; an accelerator's float32 at PrecisionHighest is a figure of its own.
func (d Device) PeakAt(dtype, precision string) Figure {
	if precision == PrecisionHighest && dtype == "float32" {
		if f, ok := d.Peak[Float32Highest]; ok || d.Kind != CPU {
			return f
		}
	}
	return d.Peak[dtype]
}

// PacedPeak is PeakAt at ClockHertz, which is all that programs reach in that power state.
func (d Device) PacedPeak(dtype, precision string) Figure {
	fastest := 0.
	for _, clock := range d.PStates {
		fastest = max(fastest, clock.Value)
	}
	if fastest == 0 {
		return d.PeakAt(dtype, precision)
	}
	return d.PeakAt(dtype, precision).scaled(d.ClockHertz.Value / fastest)
}

// InPState is d in a power state. The error says which are known.
func (d Device) InPState(state int) (Device, error) {
	clock, ok := d.PStates[state]
	if !ok {
		return d, fmt.Errorf("p_state %d: %s has clocks of %v", state, d.CommonName(), slices.Sorted(maps.Keys(d.PStates)))
	}
	d.ClockHertz = clock
	return d, nil
}

// Ridge is the arithmetic intensity, in FLOPs per byte, at which a product of
// dtype at default precision stops being limited by main memory: peak divided
// by bandwidth. It is false where either is unknown.
func (d Device) Ridge(dtype string) (float64, bool) {
	peak := d.Peak[dtype]
	if !peak.Known() || !d.BandwidthBytesPerSecond.Known() {
		return 0, false
	}
	return peak.Value / d.BandwidthBytesPerSecond.Value, true
}

// Split is one core of a device of several cores, as runtimes expose it outside
// megacore mode: peaks, bandwidth and memory are shared out, fast memory, which
// is per core, is not. A device that is not a megacore is returned unchanged.
func (d Device) Split() Device {
	if d.Kind != TPU || d.Cores < 2 {
		return d
	}
	d = d.clone()
	share := 1 / float64(d.Cores)
	for dtype, f := range d.Peak {
		d.Peak[dtype] = f.scaled(share)
	}
	d.BandwidthBytesPerSecond = d.BandwidthBytesPerSecond.scaled(share)
	d.AttainedBytesPerSecond = d.AttainedBytesPerSecond.scaled(share)
	d.MemoryBytes = d.MemoryBytes.scaled(share)
	d.LastLevelCacheBytes = d.LastLevelCacheBytes.scaled(share)
	d.DevicesPerChip *= d.Cores
	d.Cores, d.Parallel = 1, 1
	return d
}

// Remeasured is d with each figure that now has from the same source, by the same
// measurement, as it is there.
func (d Device) Remeasured(now Device) Device {
	again := func(f, now Figure) Figure {
		if f.Measured && now.Measured && f.Source == now.Source {
			return now
		}
		return f
	}
	d = d.clone()
	for dtype, f := range d.Peak {
		d.Peak[dtype] = again(f, now.Peak[dtype])
	}
	d.BandwidthBytesPerSecond = again(d.BandwidthBytesPerSecond, now.BandwidthBytesPerSecond)
	return d
}

// Dtypes lists the keys of Peak in order.
func (d Device) Dtypes() []string { return slices.Sorted(maps.Keys(d.Peak)) }

// clone copies what a caller could otherwise change in the table.
func (d Device) clone() Device {
	d.Names = slices.Clone(d.Names)
	d.Align = maps.Clone(d.Align)
	d.PStates = maps.Clone(d.PStates)
	peak := d.Peak
	d.Peak = make(map[string]Figure, len(peak))
	for k, f := range peak {
		d.Peak[k] = f.scaled(1)
	}
	for _, f := range []*Figure{
		&d.BandwidthBytesPerSecond, &d.AttainedBytesPerSecond, &d.MemoryBytes, &d.FastBytes, &d.FastDefaultBytes, &d.BetweenBytes, &d.LastLevelCacheBytes,
		&d.ClockHertz, &d.StepOverheadSeconds, &d.OverlapExponent, &d.DispatchSeconds, &d.LaunchSeconds, &d.LinkBytesPerSecond, &d.HopSeconds, &d.CollectiveSeconds,
		&d.SustainedShare, &d.WarpShare,
		&d.L2BytesPerClock, &d.FastBytesPerClock, &d.LastLevelBytesPerSecond,
	} {
		*f = f.scaled(1)
	}
	d.Torus.Pod = slices.Clone(d.Torus.Pod)
	return d
}

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
	of(func(d *Device) *Figure { return &d.CollectiveSeconds }, true)
	fast.AttainedBytesPerSecond = Figure{}
	return slow, fast
}
