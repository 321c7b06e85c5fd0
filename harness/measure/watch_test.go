package measure

import (
	"context"
	"math"
	"testing"
	"time"

	"matladder/internal/counters"
	"matladder/results"
)

func TestSince(t *testing.T) {
	all := counters.Waited | counters.Steal | counters.Switches | counters.Load
	from := counters.Reading{Waited: time.Second, Steal: 2 * time.Second, Switches: 5, Load: 1, Known: all}
	to := counters.Reading{Waited: 3 * time.Second, Steal: time.Second, Switches: 9, Throttled: 1, Load: 2, Known: all | counters.Throttled}
	got := since(from, to)
	if got.WaitedSeconds != results.Some(2.0) || got.Switches != results.Some(int64(4)) || got.Load != results.Some(2.0) {
		t.Errorf("%+v", got)
	}
	if got.StealSeconds.Known || got.ThrottledSeconds.Known || got.ThermalThrottles.Known {
		t.Errorf("a sum that fell or was not known before is known: %+v", got)
	}
	to.Load = math.NaN()
	if since(from, to).Load.Known {
		t.Error("a load that is no number")
	}
}

// A clerk is a reader of which each reading takes time on a made-up clock. Others have one
// processor all the time.
type clerk struct {
	clock *time.Duration
	takes time.Duration
	reads int
}

func (c *clerk) Glance() counters.Reading { return counters.Reading{} }
func (c *clerk) CountEvents() error       { return nil }
func (c *clerk) Energy() (string, error)  { return "", nil }
func (c *clerk) Close()                   {}
func (c *clerk) Read() counters.Reading {
	c.reads++
	*c.clock += c.takes
	return counters.Reading{Others: *c.clock, Known: counters.Others}
}

// TestTook: what a counter cannot have counted is no energy of a row.
func TestTook(t *testing.T) {
	for _, c := range []struct {
		joules  float64
		elapsed time.Duration
		source  string
		known   bool
	}{
		{1, 10 * time.Millisecond, "rapl", true},
		{0, 5 * time.Millisecond, "rapl", true},   // between two steps
		{0, 20 * time.Millisecond, "rapl", false}, // it stands still
		{0, 500 * time.Millisecond, "nvml", true},
		{0, 2 * time.Second, "nvml", false},
		{-1, time.Second, "nvml", false},
		{20_000, time.Second, "nvml", false},
		{9_000, time.Second, "nvml", true},
	} {
		var got results.Conditions
		took(&got, c.joules, c.elapsed, c.source)
		if got.Joules.Known != c.known || c.known != (got.EnergySource == c.source) || c.known && got.Joules.Value != c.joules {
			t.Errorf("%+v: %+v", c, got.Joules)
		}
	}
}

// TestWatch_Reads: of rounds that are long enough each knows what others had meanwhile, by one
// reading between two that follow each other at once; of short ones some do, and readings take
// little of the time.
func TestWatch_Reads(t *testing.T) {
	for name, c := range map[string]struct {
		round, gap time.Duration
		known      [2]int // of a hundred
		reads      [2]int
	}{
		"at once":      {round: 50 * time.Millisecond, gap: time.Millisecond, known: [2]int{100, 100}, reads: [2]int{101, 101}},
		"one by one":   {round: 50 * time.Millisecond, gap: time.Second, known: [2]int{100, 100}, reads: [2]int{200, 200}},
		"short rounds": {round: 500 * time.Microsecond, gap: 20 * time.Microsecond, known: [2]int{5, 15}, reads: [2]int{10, 30}},
	} {
		clock := time.Duration(0)
		reader := &clerk{clock: &clock, takes: 50 * time.Microsecond}
		w := &Watch{counters: reader, now: func() time.Time { return time.Unix(0, int64(clock)) }}
		known := 0
		for range 100 {
			span := w.Begin(context.Background())
			clock += c.round
			if others := span.End(context.Background()).OthersSeconds; others.Known {
				known++
				if d := others.Value - c.round.Seconds(); d < 0 || d > 0.001+reader.takes.Seconds() {
					t.Errorf("%s: others had a processor for %v s of a round of %v", name, others.Value, c.round)
				}
			}
			clock += c.gap
		}
		if known < c.known[0] || known > c.known[1] || reader.reads < c.reads[0] || reader.reads > c.reads[1] {
			t.Errorf("%s: %d of 100 rounds know of others, by %d readings", name, known, reader.reads)
		}
		if share := float64(w.Spent()) / float64(clock); share > 0.02 {
			t.Errorf("%s: readings took %.1f %% of the time", name, 100*share)
		}
	}
}
