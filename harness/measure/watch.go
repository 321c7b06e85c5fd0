package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"matladder/backend"
	"matladder/internal/counters"
	"matladder/machine"
	"matladder/results"
	"matladder/stats"
)

// A control or reading is due when controlShare times its own cost has passed since the last,
// so each takes about one hundredth of the time.
const controlShare = 100

// A Watch looks after the machine while others are measured: whether a fixed piece of
// work takes as long as ever, and what the system says of who has the processors.
type Watch struct {
	controller backend.Controller // nil where there is none
	counters   Counters           // nil where what is measured is not this machine
	energy     string             // what counts energy, "" if nothing does
	gauged     backend.Gauged     // nil where what is measured does not tell how it fares
	now        func() time.Time

	// Disturbances know what was seen so far. Where they find a control too slow for rounds with
	// symptoms like Current, it is taken once more, and the faster one counts.
	Disturbances stats.Disturbances
	Current      stats.Symptoms

	read     counters.Reading // the last whole reading of counters
	readAt   time.Time        // its end; zero before the first
	readCost time.Duration    // the mean of the latest: now and then one looks for new threads as well
	behind   bool             // it was taken behind the last round

	last  Control
	ended time.Time       // of the last control; zero before the first
	costs []time.Duration // of controls
	spent time.Duration   // on controls and counters
}

// Counters are a counters.Reader.
type Counters interface {
	Glance() counters.Reading
	Read() counters.Reading
	CountEvents() error
	Energy() (source string, err error)
	Close()
}

// CountersOf are those of this machine, nil if d is none of its own.
func CountersOf(d machine.Device) Counters {
	if d.Kind != machine.CPU {
		return nil
	}
	return counters.New()
}

// A Control is what a backend.Controller said; the zero one nothing.
type Control struct{ Compute, Memory time.Duration }

// NewWatch watches with what there is: c and counters may be nil, and the backend b that is
// measured may tell how its device fares.
func NewWatch(b backend.Backend, c backend.Controller, counters Counters, now func() time.Time) *Watch {
	w := &Watch{controller: c, counters: counters, now: now}
	w.gauged, _ = b.(backend.Gauged)
	if counters != nil {
		w.energy, _ = counters.Energy()
	}
	return w
}

// look writes how the device fares that is measured: at once behind the launches, as clocks
// rise when a device has nothing to do. ahead is how it fared before them, if that was asked.
func (w *Watch) look(ctx context.Context, c *results.Conditions, ahead backend.Gauge, elapsed time.Duration) {
	g, ok := w.gauge(ctx)
	if !ok {
		return
	}
	if ahead.JoulesKnown && g.JoulesKnown {
		took(c, g.Joules-ahead.Joules, elapsed, "nvml")
	}
	c.ClockHz, c.MemoryClockHz, c.DeviceCelsius, c.DeviceWatts, c.Throttles = g.ClockHertz, g.MemoryClockHertz, g.Celsius, g.Watts, g.Throttles
	if g.OthersKnown {
		c.DeviceOthersBytes = results.Some(g.OthersBytes)
	}
}

// took writes the energy of a repetition, unless its counter cannot be right.
func took(c *results.Conditions, joules float64, elapsed time.Duration, source string) {
	step := stats.EnergyStep(source)
	if stuck := joules == 0 && elapsed > 10*step; stuck || joules < 0 || joules > counters.MostWatts*(elapsed+step).Seconds() {
		return
	}
	c.Joules, c.EnergySource = results.Some(joules), source
}

// Energy is what counts the energy that d takes, or why nothing does.
func Energy(ctx context.Context, b backend.Backend) (source string, err error) {
	if counters := CountersOf(b.Device()); counters != nil {
		defer counters.Close()
		return counters.Energy()
	}
	if g, ok := b.(backend.Gauged); ok {
		if g, _ := g.Gauge(ctx); g.JoulesKnown {
			return "nvml", nil
		}
	}
	return "", errors.New("the device tells none")
}

func (w *Watch) gauge(ctx context.Context) (g backend.Gauge, ok bool) {
	if w.gauged == nil {
		return g, false
	}
	begin := w.now()
	g, ok = w.gauged.Gauge(ctx)
	w.spent += w.now().Sub(begin)
	return g, ok
}

// CountEvents has the events of processors counted from now on: cycles, instructions,
// misses of L2, L3 and the data TLB. What cannot be counted is its error; the rest is.
func (w *Watch) CountEvents() error {
	if w.counters == nil {
		return fmt.Errorf("%w: they are of this machine's processors, and another device is measured", counters.ErrNoEvents)
	}
	return w.counters.CountEvents()
}

// Close ends the watch.
func (w *Watch) Close() {
	if w.counters != nil {
		w.counters.Close()
	}
}

// control is a new control, or none where the last one is so recent that another
// would cost too much.
func (w *Watch) control(ctx context.Context) (c Control) {
	if w.controller == nil {
		return Control{}
	}
	begin := w.now()
	first := w.ended.IsZero()
	if !first && begin.Sub(w.ended) < controlShare*w.cost() {
		return Control{}
	}
	if first { // which makes the memory to read
		w.controller.Control(ctx)
		begin = w.now()
	}
	c.Compute, c.Memory = w.controller.Control(ctx)
	if w.Disturbances.Off(w.Current, c.Compute.Seconds(), c.Memory.Seconds()) { // threads may have been put on one core, by chance: what lasts is seen again
		compute, memory := w.controller.Control(ctx)
		c.Compute, c.Memory = min(c.Compute, compute), min(c.Memory, memory)
	}
	w.ended = w.now()
	w.costs = append(w.costs, w.ended.Sub(begin))
	w.spent += w.ended.Sub(begin)
	w.last = c
	return c
}

// cost is what a control usually takes: half of them took longer.
func (w *Watch) cost() time.Duration {
	if len(w.costs) > 64 { // the latest are enough
		w.costs = w.costs[len(w.costs)-32:]
	}
	sorted := slices.Sorted(slices.Values(w.costs))
	return sorted[len(sorted)/2]
}

// Spent is how long controls and counters took by now.
func (w *Watch) Spent() time.Duration { return w.spent }

// A Span is a round while it is watched.
type Span struct {
	*Watch
	ahead Control
	start time.Time

	counted bool // from is the counters when it began
	shared  bool // from is that behind the round before
	from    counters.Reading
	device  backend.Gauge // when it began
}

// Begin begins to watch a round. The control behind the last round is the one ahead of
// the next that follows at once.
func (w *Watch) Begin(ctx context.Context) Span {
	s := Span{Watch: w, ahead: w.last}
	if c := w.control(ctx); c != (Control{}) {
		s.ahead = c
	}
	switch {
	case w.counters == nil:
	case w.due():
		s.from, s.counted = w.reading(), true
	case w.behind: // and this round follows at once
		s.from, s.counted, s.shared = w.read, true, true
	}
	w.behind = false
	s.device, _ = w.gauge(ctx)
	s.start = w.now()
	return s
}

// End returns what became of the machine during the round.
func (s Span) End(ctx context.Context) (c results.Conditions) {
	elapsed := s.now().Sub(s.start)
	if s.counted && (!s.shared || s.due()) {
		c, s.behind = since(s.from, s.reading()), true
	}
	behind := s.control(ctx)
	c.ControlComputeAhead, c.ControlMemoryAhead = s.ahead.Compute.Seconds(), s.ahead.Memory.Seconds()
	c.ControlComputeBehind, c.ControlMemoryBehind = behind.Compute.Seconds(), behind.Memory.Seconds()
	if device, _ := s.gauge(ctx); s.device.SumsKnown && device.SumsKnown {
		c.DeviceThrottledSeconds = results.Some(max(0, device.Throttled-s.device.Throttled).Seconds())
		c.DeviceCappedSeconds = results.Some(max(0, device.Capped-s.device.Capped).Seconds())
	}
	if s.counters != nil || s.controller != nil || s.gauged != nil {
		c.RoundSeconds = elapsed.Seconds()
	}
	return c
}

// due reports whether the last whole reading of the counters is controlShare times as long
// ago as one takes.
func (w *Watch) due() bool {
	return w.readAt.IsZero() || w.now().Sub(w.readAt) >= controlShare*w.readCost
}

// reading is a whole reading of the counters.
func (w *Watch) reading() counters.Reading {
	begin := w.now()
	first := w.readAt.IsZero()
	w.read = w.counters.Read()
	w.readAt = w.now()
	took := w.readAt.Sub(begin)
	w.spent += took
	if first {
		w.readCost = took
	}
	w.readCost += (took - w.readCost) / 8
	return w.read
}

// glance is the counters that a repetition is held against.
func (w *Watch) glance() counters.Reading {
	if w.counters == nil {
		return counters.Reading{}
	}
	begin := w.now()
	now := w.counters.Glance()
	w.spent += w.now().Sub(begin)
	return now
}

// since is what happened between two readings, and how things stand at the second.
func since(from, to counters.Reading) (c results.Conditions) {
	known := from.Known & to.Known
	duration := func(which counters.Set, from, to time.Duration) (d results.Optional[float64]) {
		if known.Has(which) && to >= from {
			d = results.Some((to - from).Seconds())
		}
		return d
	}
	count := func(which counters.Set, from, to int64) (n results.Optional[int64]) {
		if known.Has(which) && to >= from {
			n = results.Some(to - from)
		}
		return n
	}
	c.WaitedSeconds = duration(counters.Waited, from.Waited, to.Waited)
	if known.Has(counters.Others) { // counted by two clocks of different steps
		c.OthersSeconds = results.Some(max(0, to.Others-from.Others).Seconds())
	}
	c.StealSeconds = duration(counters.Steal, from.Steal, to.Steal)
	c.ThrottledSeconds = duration(counters.Throttled, from.Throttled, to.Throttled)
	c.Switches = count(counters.Switches, from.Switches, to.Switches)
	c.Cycles, c.Instructions = count(counters.Cycles, from.Cycles, to.Cycles), count(counters.Instructions, from.Instructions, to.Instructions)
	c.L2Misses, c.L3Misses = count(counters.L2Misses, from.L2Misses, to.L2Misses), count(counters.L3Misses, from.L3Misses, to.L3Misses)
	c.DTLBMisses = count(counters.DTLBMisses, from.DTLBMisses, to.DTLBMisses)
	c.ThermalThrottles = count(counters.Thermal, from.Thermal, to.Thermal)
	if to.Known.Has(counters.Load) {
		c.Load = results.Finite(to.Load)
	}
	c.ClockHz = to.Hertz
	return c
}

// Round has a field take turns, once each, in an order that rng draws, so that drift of
// the machine touches all alike. It returns what became of the machine meanwhile. An error of
// a turn ends the round.
func Round[T any](ctx context.Context, w *Watch, rng *rand.Rand, field []T, turn func(place int, one T) error) (results.Conditions, error) {
	span := w.Begin(ctx)
	for place, one := range Shuffled(rng, field) {
		if err := turn(place, one); err != nil {
			return results.Conditions{}, err
		}
	}
	return span.End(ctx), nil
}

// Shuffled is the order of the next round.
func Shuffled[T any](rng *rand.Rand, field []T) []T {
	mixed := slices.Clone(field)
	rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}
