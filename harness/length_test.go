package harness

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"matladder/stats"

	"matladder/harness/measure"
	"matladder/internal/counters"
	"matladder/machine"
	"matladder/results"
)

// TestCrowded: who lacked processors asks for shorter repetitions, if they can be, and
// calibrating that was disturbed is put right.
func TestCrowded(t *testing.T) {
	const launch = 70 * time.Microsecond
	row := func(launches int, each time.Duration, waited float64) []results.Record {
		s := (time.Duration(launches) * each).Seconds()
		return []results.Record{{Seconds: s, Launches: launches, Conditions: results.Conditions{WaitedSeconds: results.Some(waited * s)}}}
	}
	for _, c := range []struct {
		name     string
		each     time.Duration // by calibration
		was      int           // launches
		halvings int
		rows     []results.Record
		want     bool
		launches int
		after    time.Duration // each
	}{
		{"quiet", launch, 128, 0, row(128, launch*9/10, 0.01), false, 128, launch},
		{"disturbed", launch, 128, 0, row(128, 2*launch, 0.5), true, 128, launch},
		{"disturbed once of twice", launch, 128, 0, append(row(128, launch, 0.5), row(128, launch, 0)...), false, 128, launch},
		{"calibrated while disturbed", 9 * time.Millisecond, 1, 0, row(1, launch, 0), false, 128, launch},
		{"both", 9 * time.Millisecond, 16, 3, row(2, launch, 0.6), true, 128, launch},
		{"long launches", 20 * time.Millisecond, 1, 0, row(1, 20*time.Millisecond, 0.5), false, 1, 20 * time.Millisecond},
		{"short enough", 2 * time.Millisecond, 4, 2, row(1, 2*time.Millisecond, 0.5), false, 4, 2 * time.Millisecond},
	} {
		g := &group{run: &run{watch: &measure.Watch{}}, halvings: c.halvings}
		l := &candidate{counts: measure.Counts{Launches: c.was, Each: c.each, Settling: c.was}}
		asks := g.crowded(l, c.rows)
		if got := l.counts; asks != c.want || got.Launches != c.launches || got.Each < c.after-1 || got.Each > c.after+1 || got.Settling != c.launches {
			t.Errorf("%s: %v %+v, want %v, %d launches of %s", c.name, asks, got, c.want, c.launches, c.after)
		}
	}
	loop := &candidate{counts: measure.Counts{Launches: 8, Longer: 64, Each: launch}}
	if (&group{run: &run{watch: &measure.Watch{}}}).crowded(loop, row(64, launch, 0.5)) || loop.counts.Launches != 8 {
		t.Errorf("of a loop: %+v", loop.counts)
	}
}

// crowd counts what the threads of a fake waited: half of the time of each launch of one
// kernel, until it is over. Launches take 100 W.
type crowd struct {
	*fake
	kernel string
	until  time.Time
	waited time.Duration
}

func (c *crowd) Glance() counters.Reading {
	if c.clock.Before(c.until) {
		c.waited = c.ran[c.kernel] / 2
	}
	return counters.Reading{Waited: c.waited, Joules: 100 * c.awake.Seconds(), Known: counters.Waited | counters.Energy}
}

func (c *crowd) Read() counters.Reading  { return c.Glance() }
func (c *crowd) CountEvents() error      { return nil }
func (c *crowd) Energy() (string, error) { return "rapl", nil }
func (c *crowd) Close()                  {}

// TestShortened: kernels have the figures that they would have alone, though others have the
// processors while one of them has its turn, and threads that slept take a while until they
// are as fast as they can be; in each round all have repetitions of the same length.
func TestShortened(t *testing.T) {
	f := newFake()
	f.device.Kind, f.jitter, f.slept = machine.CPU, 0.05, 2*time.Millisecond
	c, err := Parse("one.yaml", []byte("sizes: [48]\ndtypes: [float32]\nkernels: [1, 2]\nrounds: {min: 12, max: 40}\n"))
	if err != nil {
		t.Fatal(err)
	}
	opt := options(f, filepath.Join(t.TempDir(), "rows.csv"))
	opt.countersOf = func(machine.Device) measure.Counters {
		return &crowd{fake: f, kernel: "v1_naive", until: f.clock.Add(400 * time.Millisecond)}
	}
	out, err := start(context.Background(), plan(t, c, f), opt, f.now)
	if err != nil {
		t.Fatal(err)
	}
	launches, least := map[int]int{}, math.MaxInt
	for _, r := range out.Rows {
		if math.Abs(r.Joules.Value/r.Seconds-100) > 1e-3 || r.EnergySource != "rapl" {
			t.Errorf("%s takes %g J by %q in %g s", r.Kernel, r.Joules.Value, r.EnergySource, r.Seconds)
		}
		n := r.Launches &^ 1 // one more, now and then
		if had := launches[r.Round]; had != 0 && had != n {
			t.Errorf("round %d: %d launches of %s, %d of another", r.Round, n, r.Kernel, had)
		}
		launches[r.Round], least = n, min(least, n)
	}
	if most := launches[0]; least*8 > most {
		t.Errorf("%d launches at first, %d at least: nothing was shortened", most, least)
	}
	for _, s := range stats.Summarize(out.Rows) {
		if want := float64(s.FLOPs) / f.rate * (1 + f.jitter/2); math.Abs(s.Time.Median/want-1) > f.jitter/2 {
			t.Errorf("%s takes %g s, should %g", s.Kernel, s.Time.Median, want)
		}
	}
}
