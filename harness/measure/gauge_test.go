package measure

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"matladder/stats"

	"matladder/backend"
	"matladder/results"
)

// gauged is a device whose sums grow with each reading, until it tells no more.
type gauged struct {
	backend.Backend
	reading backend.Gauge
	left    int
}

func (g *gauged) Gauge(context.Context) (backend.Gauge, bool) {
	if g.left--; g.left < 0 {
		return backend.Gauge{}, false
	}
	g.reading.Throttled += 10 * time.Millisecond
	g.reading.Capped += time.Second
	return g.reading, true
}

// TestGauge: rows have what a device tells behind their launches, and what its sums grew
// by in their round; a row is disturbed by heat and not by the limit of power; what is not
// told is not known.
func TestGauge(t *testing.T) {
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(500 * time.Millisecond); return clock }
	round := func(g *gauged) results.Record {
		w := NewWatch(g, nil, nil, now)
		defer w.Close()
		r := results.Record{Launches: 1, Seconds: 1}
		round, err := Round(t.Context(), w, rand.New(rand.NewPCG(1, 2)), []int{1}, func(int, int) error {
			w.look(t.Context(), &r.Conditions, backend.Gauge{}, 0)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Conditions = During(round, r.Conditions)
		return r
	}
	of := func(r results.Record) stats.Causes {
		var d stats.Disturbances
		d.Add(stats.SymptomsOf(&r))
		return d.Of(stats.SymptomsOf(&r))
	}
	full := backend.Gauge{ClockHertz: 1.4e9, MemoryClockHertz: 2.6e9, Celsius: 70, Watts: 700, Throttles: backend.ThrottledByPower, SumsKnown: true, OthersBytes: 7, OthersKnown: true}
	r := round(&gauged{reading: full, left: 99})
	if r.ClockHz != 1.4e9 || r.MemoryClockHz != 2.6e9 || r.DeviceCelsius != 70 || r.DeviceWatts != 700 || r.Throttles != "power" || r.DeviceOthersBytes != results.Some(int64(7)) {
		t.Errorf("%+v", r)
	}
	if r.DeviceThrottledSeconds != results.Some(0.02) || r.DeviceCappedSeconds != results.Some(2.0) || r.RoundSeconds <= 0 {
		t.Errorf("%+v", r)
	}
	if r.DeviceThrottledSeconds.Value > 0.02*r.RoundSeconds || of(r) != 0 {
		t.Errorf("disturbed by %v: %+v", of(r), r)
	}
	r.DeviceThrottledSeconds.Value = 0.03 * r.RoundSeconds
	if of(r) != stats.Hot {
		t.Errorf("%v: %+v", of(r), r)
	}
	for _, reason := range []string{backend.ThrottledByHeat, backend.ThrottledByHardware, backend.ThrottledBySupply} {
		full.Throttles = backend.ThrottledByPower + "+" + reason
		if r := round(&gauged{reading: full, left: 99}); of(r) != stats.Hot {
			t.Errorf("%s: %v", full.Throttles, of(r))
		}
	}
	var c results.Conditions // of a repetition between two readings
	w := NewWatch(&gauged{reading: backend.Gauge{Joules: 1500, JoulesKnown: true}, left: 9}, nil, nil, now)
	w.look(t.Context(), &c, backend.Gauge{Joules: 1000, JoulesKnown: true}, time.Second)
	w.look(t.Context(), new(results.Conditions), backend.Gauge{}, time.Second)
	if c.Joules != results.Some(500.0) || During(results.Conditions{Joules: results.Some(7.0)}, c).EnergySource != "nvml" {
		t.Errorf("energy: %+v", c)
	}
	if r := round(&gauged{reading: full, left: 2}); r.Throttles == "" || r.DeviceThrottledSeconds.Known {
		t.Errorf("it told no more behind the round: %+v", r)
	}
	if r := round(&gauged{}); r.Throttles != "" || r.ClockHz != 0 || r.DeviceOthersBytes.Known || r.DeviceCappedSeconds.Known || of(r) != 0 {
		t.Errorf("it tells nothing: %+v", r)
	}
}
