package harness

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/stats"

	"matladder/results"
)

// TestLoop times programs that take long to start. The reader must find the time
// of a launch and that of starting apart, also after an interruption.
func TestLoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "kernels: [4]\nrepetitions: 2\n")
	f := newFake()
	f.start = 2 * time.Millisecond
	opt := options(f, path)
	ctx, cancel := context.WithCancel(context.Background())
	opt.Observe = func(e Event) {
		if e.Round == 3 {
			cancel()
		}
	}
	if _, err := start(ctx, plan(t, c, f), opt, f.now); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again := newFake()
	again.start = f.start
	opt = options(again, path)
	opt.Resume = true
	out, err := start(context.Background(), plan(t, c, again), opt, again.now)
	if err != nil {
		t.Fatal(err)
	}
	audit(t, path, out)
	counts := map[results.PointKey][2]int{}
	for _, r := range out.Rows {
		have := counts[r.Point()]
		if have[r.Rep%2] == 0 {
			have[r.Rep%2] = r.Launches
			counts[r.Point()] = have
		}
		if r.Rep%2 == 1 && have[1] <= have[0] {
			t.Fatalf("launch counts %v", have)
		}
		want := have[r.Rep%2]
		if r.Method != results.Loop || r.Launches != want || r.Rep >= 4 {
			t.Fatalf("round %d, repetition %d: %d launches by %s, want %d", r.Round, r.Rep, r.Launches, r.Method, want)
		}
	}
	for _, s := range stats.Summarize(out.Rows) {
		want := float64(s.FLOPs) / f.rate
		if got := s.Time.Median; math.Abs(got-want) > 0.05*want {
			t.Errorf("%d: a launch takes %g s, want %g", s.M, got, want)
		}
		if got := s.Dispatch.Median; math.Abs(got-f.start.Seconds()) > 0.1*f.start.Seconds() {
			t.Errorf("%d: starting takes %g s, want %v", s.M, got, f.start)
		}
	}
}

// TestLoop_Impossible: starting takes so long that no row shows a rate above the
// peak, but the slope does.
func TestLoop_Impossible(t *testing.T) {
	f := newFake()
	f.start, f.rate = 20*time.Millisecond, 1.2*f.device.Peak["float32"].Value
	out := mustRun(t, small(t, "kernels: [4]\n"), f, filepath.Join(t.TempDir(), "rows.csv"))
	for _, s := range stats.Summarize(out.Rows) {
		want := results.OK
		if s.DtypeA == "float32" {
			want = results.Impossible
		}
		if s.Status != want || want != results.OK && (s.Round != 5 || !strings.Contains(s.Reason, "slope")) {
			t.Errorf("%s %s after round %d: %s %q, want %s", s.DtypeA, s.Size(), s.Round, s.Status, s.Reason, want)
		}
	}
}
