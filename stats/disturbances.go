package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"matladder/results"
	"matladder/stats/interval"
)

// Symptoms are what the conditions of a row show of disturbances: what its round
// shares with others, and how long it waited for a processor itself. They are
// comparable. The zero Symptoms are those of a row that says nothing.
type Symptoms struct {
	run                         string
	group                       string  // whose rounds its round is one of
	length                      float64 // of the round in seconds: hardly two are equally long
	computeAhead, computeBehind float64 // seconds of a control, 0 if not known
	memoryAhead, memoryBehind   float64
	waited, stolen, throttled   float64 // shares of the processors' time, 0 if not known
	hot                         bool
	alone                       bool // hardly anybody else had a processor
}

// SymptomsOf returns those of a row.
func SymptomsOf(r *results.Record) Symptoms {
	s := SymptomsIn(r.RunID, r.Size()+" "+cmp.Or(r.Beside, r.Product()), r.Threads, &r.Conditions)
	if r.Seconds > 0 {
		s.waited = r.WaitedSeconds.Value / r.Seconds
	}
	return s
}

// SymptomsIn returns those that all of a round have: one of a group, in a run, on a number of
// threads.
func SymptomsIn(run, group string, threads int, c *results.Conditions) Symptoms {
	s := Symptoms{
		run: run, group: group, length: c.RoundSeconds,
		computeAhead: c.ControlComputeAhead, computeBehind: c.ControlComputeBehind,
		memoryAhead: c.ControlMemoryAhead, memoryBehind: c.ControlMemoryBehind,
		hot: c.ThermalThrottles.Value > 0 || slowed(c.Throttles),
	}
	if c.RoundSeconds > 0 && c.DeviceThrottledSeconds.Value/c.RoundSeconds > tolerance {
		s.hot = true
	}
	if all := c.RoundSeconds * float64(max(1, threads)); all > 0 {
		// A step of the clock that counts it says no more than that there was some.
		const step = 0.01
		s.stolen = math.Max(0, c.StealSeconds.Value-step) / all
		s.throttled = c.ThrottledSeconds.Value / all
		if c.OthersSeconds.Known && math.Max(0, c.OthersSeconds.Value-step)/all <= tolerance {
			s.alone = true
		}
	}
	return s
}

// slowed reports whether reasons for a low clock, column throttles, are disturbances: heat,
// and a supply that gives too little. The words are those of backend.Gauge. A device at its
// limit of power is not disturbed: such work always brings it there.
func slowed(reasons string) bool {
	return slices.ContainsFunc(strings.Split(reasons, "+"), func(r string) bool { return r == "heat" || r == "hardware" || r == "supply" })
}

// shared are the symptoms that all rows of a round have.
func (s Symptoms) shared() Symptoms {
	s.waited = 0
	return s
}

// Causes are what disturbed a row or a round; none if it was quiet.
type Causes uint8

const (
	Waited     Causes = 1 << iota // others had the processors
	Stolen                        // the host of the virtual machine had them
	Throttled                     // a quota was spent
	Hot                           // the processor, or the device, was slowed down to cool or by its supply
	SlowCores                     // the control's arithmetic took longer
	SlowMemory                    // the control's read of memory took longer
)

// tolerance is the share of the processors' time that may be lost: the half-width of an
// interval at which a sweep takes a median for known. More is a difference that would
// be taken for one of kernels.
const tolerance = 0.02

// Disturbances tells quiet rows from disturbed ones. Lost time shows in the row alone; a control
// is held against the others of its run, which Add collects. The zero Disturbances are ready.
type Disturbances struct {
	runs map[string]*controls
}

// controls are those of one run.
type controls struct {
	seen    map[Symptoms]bool
	compute sample
	memory  map[string]*sample // by group
}

// A sample is controls that are alike but for what disturbs them.
type sample struct {
	quiet  float64 // the share of it that is taken to be
	values []float64
	limit  float64
	fresh  bool // limit is that of values
}

func (s *sample) add(values ...float64) {
	for _, v := range values {
		if v > 0 {
			s.values, s.fresh = append(s.values, v), false
		}
	}
}

func (s *sample) max() float64 {
	switch {
	case s == nil:
		return math.Inf(1)
	case !s.fresh:
		s.limit, s.fresh = limitOf(s.values, s.quiet), true
	}
	return s.limit
}

// Add learns of a row's symptoms. Rows of one round count once.
func (d *Disturbances) Add(c Symptoms) {
	c = c.shared()
	if c.computeAhead == 0 && c.computeBehind == 0 && c.memoryAhead == 0 && c.memoryBehind == 0 {
		return
	}
	run := d.runs[c.run]
	if run == nil {
		if d.runs == nil {
			d.runs = map[string]*controls{}
		}
		run = &controls{seen: map[Symptoms]bool{}, compute: sample{quiet: 0.25}, memory: map[string]*sample{}}
		d.runs[c.run] = run
	}
	if run.seen[c] {
		return
	}
	run.seen[c] = true
	run.compute.add(c.computeAhead, c.computeBehind)
	if run.memory[c.group] == nil {
		run.memory[c.group] = &sample{quiet: 0.75} // it has levels of its own: which pages, what must be written back
	}
	run.memory[c.group].add(c.memoryAhead, c.memoryBehind)
}

// Of returns what disturbed a row of these symptoms.
func (d *Disturbances) Of(c Symptoms) (causes Causes) {
	for _, lost := range []struct {
		share float64
		cause Causes
	}{{c.waited, Waited}, {c.stolen, Stolen}, {c.throttled, Throttled}} {
		if lost.share > tolerance {
			causes |= lost.cause
		}
	}
	if c.alone { // its own threads had to wait for each other, which is their own matter
		causes &^= Waited
	}
	if c.hot {
		causes |= Hot
	}
	compute, memory := d.limits(c)
	if max(c.computeAhead, c.computeBehind) > compute {
		causes |= SlowCores
	}
	if max(c.memoryAhead, c.memoryBehind) > memory {
		causes |= SlowMemory
	}
	return causes
}

// Off reports whether a control, in seconds, is off by what has been learnt of rounds
// of these symptoms.
func (d *Disturbances) Off(c Symptoms, compute, memory float64) bool {
	maxCompute, maxMemory := d.limits(c)
	return compute > maxCompute || memory > maxMemory
}

// limits are the seconds above which controls are off; infinite where there are too few to tell.
func (d *Disturbances) limits(c Symptoms) (compute, memory float64) {
	run := d.runs[c.run]
	if run == nil {
		return math.Inf(1), math.Inf(1)
	}
	return run.compute.max(), run.memory[c.group].max()
}

// limitOf returns the value above which one of values is not of the same kind as the fastest of
// them. Whatever disturbs makes a control slower, never faster: so the fastest share of them is
// taken to be quiet. From there on values are taken in, as long as they lie within what those
// taken in lead one to expect: three times the distance between their quartiles above the upper
// one (Tukey's outer fence, beyond which lies one value in 400 000 of a normal distribution), or
// tolerance above it where they hardly differ. So a machine whose clock wanders has wide limits,
// and all but that share of a run may be disturbed.
func limitOf(values []float64, share float64) float64 {
	const few = 8
	if len(values) < few {
		return math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(values))
	n := max(few/2, int(share*float64(len(sorted))))
	for {
		low, high := interval.Quantile(sorted[:n], 0.25), interval.Quantile(sorted[:n], 0.75)
		limit := high + max(3*(high-low), tolerance*high)
		more, _ := slices.BinarySearch(sorted, math.Nextafter(limit, math.Inf(1)))
		if more <= n {
			return limit
		}
		n = more
	}
}
