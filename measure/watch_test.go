package measure

import (
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
	got := Since(from, to)
	if got.WaitedSeconds != results.Some(2.0) || got.Switches != results.Some(int64(4)) || got.Load != results.Some(2.0) {
		t.Errorf("%+v", got)
	}
	if got.StealSeconds.Known || got.ThrottledSeconds.Known || got.ThermalThrottles.Known {
		t.Errorf("a sum that fell or was not known before is known: %+v", got)
	}
	to.Load = math.NaN()
	if Since(from, to).Load.Known {
		t.Error("a load that is no number")
	}
}
