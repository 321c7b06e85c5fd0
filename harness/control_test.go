package harness

import (
	"cmp"
	"context"
	"path/filepath"
	"testing"
	"time"

	"matladder/stats"

	"matladder/internal/counters"
	"matladder/machine"
	"matladder/results"
)

// fakeControl takes its time of the fake's clock, and is slower at times.
type fakeControl struct {
	*fake
	calls int
	takes time.Duration // a millisecond if 0
	slow  func(call int) float64
}

func (c *fakeControl) Control(context.Context) (compute, memory time.Duration) {
	c.calls++
	factor := 1.0
	if c.slow != nil {
		factor = c.slow(c.calls)
	}
	c.clock = c.clock.Add(cmp.Or(c.takes, time.Millisecond))
	return time.Duration(200e3 * factor), time.Duration(300e3 * factor)
}

// TestControl: each round has a control ahead of it, most have one behind, and all
// take no more than a fiftieth of the time.
func TestControl(t *testing.T) {
	f := newFake()
	c := &fakeControl{fake: f}
	opt := options(f, filepath.Join(t.TempDir(), "rows.csv"))
	opt.Controller = c
	begin := f.clock
	out, err := start(context.Background(), plan(t, small(t, ""), f), opt, f.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, opt.Out, out)
	behind := 0
	for _, r := range out.Rows {
		if r.ControlComputeAhead != 200e-6 || r.ControlMemoryAhead != 300e-6 || !(r.RoundSeconds > 0) {
			t.Fatalf("a round without a control: %+v", r)
		}
		if r.ControlComputeBehind != 0 {
			behind++
		}
		if r.WaitedSeconds.Known || r.StealSeconds.Known || r.Load.Known {
			t.Fatalf("a device elsewhere has the counters of this machine: %+v", r)
		}
	}
	if behind == 0 || c.calls < 4 {
		t.Errorf("%d of %d rows have a control behind them, of %d", behind, len(out.Rows), c.calls)
	}
	if share := out.Control.Seconds() / f.clock.Sub(begin).Seconds(); !(share > 0 && share <= 0.02) {
		t.Errorf("controls took %.2g of the time", share)
	}
}

// TestControl_None: without one there is nothing in the rows.
func TestControl_None(t *testing.T) {
	f := newFake()
	for _, r := range mustRun(t, small(t, ""), f, filepath.Join(t.TempDir(), "rows.csv")).Rows {
		if r.ControlComputeAhead != 0 || r.RoundSeconds != 0 {
			t.Fatalf("%+v", r)
		}
	}
}

// TestControl_Counters: rows measured on the cores of this machine have what its
// system tells.
func TestControl_Counters(t *testing.T) {
	f := newFake()
	f.device.Kind = machine.CPU
	known := counters.New()
	told := known.Read().Known
	known.Close()
	for _, r := range mustRun(t, small(t, "kernels: [1]\n"), f, filepath.Join(t.TempDir(), "rows.csv")).Rows {
		if r.Status == results.OK && (r.WaitedSeconds.Known != told.Has(counters.Waited) || r.Load.Known != told.Has(counters.Load)) {
			t.Fatalf("%+v of %b", r, told)
		}
	}
}

// TestControl_Disturbed: rounds between slow controls are measured again, and figures
// leave them out; a slow control that is not seen again is none.
func TestControl_Disturbed(t *testing.T) {
	rounds := func(slow func(call int) float64) (most int, out Outcome) {
		f := newFake()
		f.jitter = 0.5 // intervals that never end a group
		opt := options(f, filepath.Join(t.TempDir(), "rows.csv"))
		opt.Controller = &fakeControl{fake: f, slow: slow, takes: 50 * time.Microsecond}
		c, err := Parse("one.yaml", []byte("sizes: [96]\ndtypes: [float32]\nkernels: [1]\nrounds: {min: 12, max: 12}\n"))
		if err != nil {
			t.Fatal(err)
		}
		out, err = start(context.Background(), plan(t, c, f), opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Rows {
			most = max(most, r.Round+1)
		}
		return most, out
	}
	undisturbed, _ := rounds(nil)
	once, _ := rounds(func(call int) float64 {
		if call == 12 {
			return 2
		}
		return 1
	})
	long, out := rounds(func(call int) float64 {
		if call >= 12 && call < 18 {
			return 2
		}
		return 1
	})
	s := stats.Summarize(out.Rows)[0]
	if undisturbed != 12 || once != 12 || long <= 12 || s.Disturbed == 0 || s.LowConfidence || s.Time.N < 12 {
		t.Errorf("%d rounds, %d with one slow control, %d with several in a row: %d left out of %d", undisturbed, once, long, s.Disturbed, s.Rows)
	}
	always, _ := rounds(func(call int) float64 { return 1 + float64(call%2) + float64(call) }) // ever slower
	if always > 24 {
		t.Errorf("%d rounds on a machine that is never quiet", always)
	}
}
