package measure

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/internal/counters"
	"matladder/results"
	"matladder/stats"
	"matladder/tile"
)

// An Executable is what a contender of a benchmark or of a tuner runs. The zero one is closed.
type Executable struct {
	exe    backend.Seeded
	limits Limits
}

// Open compiles programs by compile, within limits. References may be shared by executables.
func (l Limits) Open(ctx context.Context, programs []*tile.Program, r *seeded.References, compile func(context.Context) (backend.Executable, error)) (e Executable, err error) {
	_, err = l.Call(ctx, "compilation", func(ctx context.Context) error {
		exe, err := compile(ctx)
		if err == nil {
			e = Executable{seeded.Of(exe, programs, r), l}
		}
		return err
	})
	return e, err
}

// IsOpen reports whether the executable can be launched.
func (e *Executable) IsOpen() bool { return e.exe != nil }

// Guest is the judge of a function that somebody else wrote; nil of others.
func (e *Executable) Guest() *seeded.Guest {
	g, _ := e.exe.(*seeded.Guest)
	return g
}

// Close frees what is open.
func (e *Executable) Close() error {
	if e.exe == nil {
		return nil
	}
	exe := e.exe
	e.exe = nil
	return Guard(exe.Close)
}

// Load makes the inputs.
func (e *Executable) Load(ctx context.Context, spec backend.InputSpec) error {
	if err := Guard(func() error { return e.exe.LoadSeeded(ctx, spec) }); err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	return nil
}

// Poison overwrites the output.
func (e *Executable) Poison(ctx context.Context) error {
	if err := Guard(func() error { return e.exe.Poison(ctx) }); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// Check verifies the output.
func (e *Executable) Check(ctx context.Context, spec backend.CheckSpec) (res backend.CheckResult, err error) {
	err = Guard(func() (err error) { res, err = e.exe.Check(ctx, spec); return err })
	return res, err
}

// Launch runs a number of launches.
func (e *Executable) Launch(ctx context.Context, launches int) (backend.Sample, error) {
	return e.limits.Launch(ctx, e.exe, launches)
}

// Calibrate finds how many launches make a repetition.
func (e *Executable) Calibrate(ctx context.Context) (Counts, error) {
	return e.limits.Calibrate(ctx, e.exe)
}

// A Measurement is a repetition: launches that were timed together, and what became of the
// machine meanwhile.
type Measurement struct {
	backend.Sample
	Launches   int
	Conditions results.Conditions // what the repetition has of its own: see During
}

// Measure times a repetition. If cool is not nil, it is called ahead of each launch, which is
// timed alone. each is about what a launch takes: a GPU tells its energy of long repetitions alone.
func (e *Executable) Measure(ctx context.Context, w *Watch, launches int, each time.Duration, cool func(context.Context, backend.Executable) error) (Measurement, error) {
	m, parts := Measurement{Launches: launches}, 1
	if cool != nil {
		parts = launches
	}
	var ahead backend.Gauge
	if time.Duration(launches)*each >= stats.EnergyStep("nvml") {
		ahead, _ = w.gauge(ctx)
	}
	for range parts {
		if cool != nil {
			if _, err := e.limits.Call(ctx, "putting operands out of the caches", func(ctx context.Context) error { return cool(ctx, seeded.Inner(e.exe)) }); err != nil {
				return m, err
			}
		}
		from := w.glance()
		s, err := e.Launch(ctx, launches/parts)
		if err != nil {
			return m, err
		}
		to := w.glance()
		add(&m.Conditions, since(from, to))
		if joules, known := counters.JoulesBetween(from, to); known && parts == 1 {
			took(&m.Conditions, joules, s.Elapsed, w.energy)
		}
		s.Elapsed += m.Elapsed
		m.Sample = s
	}
	w.look(ctx, &m.Conditions, ahead, m.Elapsed)
	return m, nil
}

// add adds up what was counted in parts of a repetition.
func add(sum *results.Conditions, c results.Conditions) {
	sum.WaitedSeconds, sum.Switches = plus(sum.WaitedSeconds, c.WaitedSeconds), plus(sum.Switches, c.Switches)
	sum.Cycles, sum.Instructions = plus(sum.Cycles, c.Cycles), plus(sum.Instructions, c.Instructions)
	sum.L2Misses, sum.L3Misses, sum.DTLBMisses = plus(sum.L2Misses, c.L2Misses), plus(sum.L3Misses, c.L3Misses), plus(sum.DTLBMisses, c.DTLBMisses)
}

func plus[T int64 | float64](a, b results.Optional[T]) results.Optional[T] {
	return results.Optional[T]{Value: a.Value + b.Value, Known: a.Known || b.Known}
}

// During returns the conditions of a round, with the repetition's own fields in place of the
// round's. A new field that each repetition has of its own is copied here too.
func During(round, own results.Conditions) results.Conditions {
	round.WaitedSeconds, round.Switches, round.Cycles, round.Instructions = own.WaitedSeconds, own.Switches, own.Cycles, own.Instructions
	round.L2Misses, round.L3Misses, round.DTLBMisses = own.L2Misses, own.L3Misses, own.DTLBMisses
	round.ClockHz = cmp.Or(round.ClockHz, own.ClockHz)
	round.Throttles, round.MemoryClockHz, round.DeviceCelsius = own.Throttles, own.MemoryClockHz, own.DeviceCelsius
	round.DeviceWatts, round.DeviceOthersBytes = own.DeviceWatts, own.DeviceOthersBytes
	round.Joules, round.EnergySource = own.Joules, own.EnergySource
	return round
}
