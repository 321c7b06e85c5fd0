package harness

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/backend"
	"matladder/results"
)

// coolFake is a fake that can put operands out of the caches, which takes a while.
type coolFake struct {
	*fake
	cooled int
}

func (f *coolFake) Cool(context.Context, backend.Executable) error {
	f.cooled++
	f.fake.clock = f.fake.clock.Add(1e6)
	return nil
}

// TestCold: each launch of a cold repetition is cooled and timed alone, and its point is
// another one than the warm one of the same file.
func TestCold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	f := &coolFake{fake: newFake()}
	measure := func(more string) []results.Record {
		s := plan(t, small(t, "kernels: [1, 3]\n"+more), f.fake)
		opt := options(f.fake, path)
		opt.Backend, opt.Resume = f, more != ""
		out, err := start(context.Background(), s, opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		return out.Rows
	}
	warm := measure("")
	if f.cooled > 0 {
		t.Errorf("a warm sweep is cooled %d times", f.cooled)
	}
	all := measure("cache: cold\npin: true\n")
	launches, rows := 0, 0
	for _, r := range all[len(warm):] {
		rows++
		launches += r.Launches
		if r.Cache != results.Cold || r.Pin != "cores" || r.Launches > mostColdLaunches+1 || r.Status != results.OK {
			t.Fatalf("%+v", r)
		}
	}
	if rows < len(warm)/2 || launches != f.cooled || launches <= rows {
		t.Errorf("%d rows of %d launches, cooled %d times; %d warm rows", rows, launches, f.cooled, len(warm))
	}
	if n := len(stats.Summarize(all)); n != 16 {
		t.Errorf("%d points, want 8 warm and 8 cold ones", n)
	}
	if again := measure("cache: cold\npin: true\n"); len(again) != len(all) {
		t.Errorf("resumed, %d rows became %d", len(all), len(again))
	}
	if list, old, new := stats.Pair(stats.Summarize(warm), stats.Summarize(all[len(warm):]), 0.02, false); len(list) > 0 || len(old) != 8 || len(new) != 8 {
		t.Errorf("warm and cold are compared: %+v", list)
	}
}

// TestCold_Unsupported: where the backend cannot, the row says so.
func TestCold_Unsupported(t *testing.T) {
	out := mustRun(t, small(t, "kernels: [3]\ncache: cold\n"), newFake(), filepath.Join(t.TempDir(), "r.csv"))
	for _, r := range out.Rows {
		if r.Status != results.Unsupported || !strings.Contains(r.Reason, "backend fake cannot put operands out of the caches") {
			t.Errorf("%s %s: %s", r.Kernel, r.Status, r.Reason)
		}
	}
	if len(out.Rows) != 4 {
		t.Errorf("%d rows", len(out.Rows))
	}
}
