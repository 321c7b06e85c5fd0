package harness

import (
	"testing"
	"time"

	"matladder/measure"
	"matladder/results"
)

// TestAdapt: repetitions become shorter where others have the processors, and have as many
// launches as they seemed to have room for where calibrating was right.
func TestAdapt(t *testing.T) {
	const launch = 70 * time.Microsecond
	row := func(launches int, each time.Duration, waited float64) []results.Record {
		s := (time.Duration(launches) * each).Seconds()
		return []results.Record{{Seconds: s, Launches: launches, WaitedSeconds: results.Some(waited * s)}}
	}
	for _, c := range []struct {
		name  string
		each  time.Duration // by calibration
		was   int           // launches
		rows  [][]results.Record
		want  int
		after time.Duration // each
	}{
		{"quiet", launch, 128, [][]results.Record{row(128, launch, 0), row(128, launch*9/10, 0.01)}, 128, launch},
		{"disturbed once", launch, 128, [][]results.Record{row(128, 2*launch, 0.5)}, 32, launch},
		{"disturbed for long", launch, 128, [][]results.Record{row(128, 2*launch, 0.5), row(32, launch, 0.5), row(8, launch, 0.3), row(8, launch, 0)}, 8, launch},
		{"calibrated while disturbed", 9 * time.Millisecond, 1, [][]results.Record{row(1, launch, 0)}, 128, launch},
		{"both", 9 * time.Millisecond, 1, [][]results.Record{row(1, 8*time.Millisecond, 0.9), row(1, launch, 0), row(32, 3*launch, 0.6)}, 8, launch},
		{"long launches", 20 * time.Millisecond, 1, [][]results.Record{row(1, 20*time.Millisecond, 0.5)}, 1, 20 * time.Millisecond},
	} {
		g := &group{run: &run{}}
		l := &lane{counts: measure.Counts{Launches: c.was, Each: c.each, Settling: c.was}}
		for _, rows := range c.rows {
			g.adapt(l, rows)
		}
		if got := l.counts; got.Launches != c.want || got.Each < c.after-1 || got.Each > c.after+1 || got.Settling != c.want {
			t.Errorf("%s: %+v, want %d launches of %s", c.name, got, c.want, c.after)
		}
	}
	loop := &lane{counts: measure.Counts{Launches: 8, Longer: 64, Each: launch}}
	(&group{run: &run{}}).adapt(loop, row(64, launch, 0.5))
	if loop.counts.Launches != 8 {
		t.Errorf("of a loop: %+v", loop.counts)
	}
}
