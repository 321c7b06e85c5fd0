package harness

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"matladder/results"
	"matladder/stats"
)

// TestWindow: under load the device is busy for the part of a window that was asked for, rows
// know when they began, and the machine rests ahead of each window.
func TestWindow(t *testing.T) {
	for _, begins := range []time.Duration{0, 20 * time.Microsecond} { // plain calls, and loops in a program
		f := newFake()
		f.start = begins
		paused := time.Duration(0)
		real := pause
		pause = func(ctx context.Context, d time.Duration) error {
			f.clock = f.clock.Add(d)
			paused += d
			return ctx.Err()
		}
		t.Cleanup(func() { pause = real })
		c, err := Parse("load.yaml", []byte("sizes: [64]\ndtypes: [float32]\nkernels: [1, 2]\nduty: [25, 100]\nwindow: 2s\ncool: 3s\nrounds: {min: 2, max: 2}\n"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "rows.csv")
		out, err := measured(t, f, c, path, false)
		if err != nil {
			t.Fatal(err)
		}
		type window struct {
			kernel      string
			duty, round int
		}
		busy, last := map[window]float64{}, map[window]float64{}
		for _, r := range out.Rows {
			w := window{r.Kernel, r.Duty, r.Round}
			if r.Status != results.OK || r.RestSeconds != 3 || r.WindowSeconds != 2 || !r.OffsetSeconds.Known || r.OffsetSeconds.Value < last[w] {
				t.Fatalf("%+v", r)
			}
			busy[w], last[w] = busy[w]+r.Seconds, r.OffsetSeconds.Value
		}
		for w, seconds := range busy {
			if share := seconds / 2; math.Abs(share-float64(w.duty)/100) > 0.03 || last[w] < 1.8 {
				t.Errorf("%+v: busy for %.3f of the window, its last row began at %g s", w, share, last[w])
			}
		}
		if idle := paused - 8*3*time.Second; len(busy) != 8 || math.Abs(idle.Seconds()-4*1.5) > 0.3 {
			t.Errorf("%d windows, %v idle beside rests", len(busy), idle)
		}
		if sums := stats.Summarize(out.Rows); len(sums) != 4 || math.Abs(sums[0].Time.Median/(float64(sums[0].FLOPs)/f.rate*(1+f.jitter/2))-1) > f.jitter {
			t.Errorf("%d points, %v", len(sums), sums[0].Time)
		}
		if again, err := measured(t, f, c, path, true); err != nil || again.New != 0 {
			t.Errorf("resumed: %d rows, %v", again.New, err)
		}
	}
}

func measured(t *testing.T, f *fake, c Config, path string, resume bool) (Outcome, error) {
	o := options(f, path)
	o.Resume = resume
	return start(t.Context(), plan(t, c, f), o, f.now)
}
