package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/internal/deadline"
	"matladder/results"
)

// TestTurns_Killed: a point in whose turn the process ends each time becomes a row after
// the second, and those behind it are measured.
func TestTurns_Killed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "kernels: [1, 3]\n")
	f := newFake()
	var note []byte // the last one, as a killed process leaves it
	limited = func(ctx context.Context, d time.Duration) (deadline.Context, context.CancelFunc) {
		if text, err := os.ReadFile(turnsFile(path)); err == nil {
			note = text
		}
		return deadline.WithTimeout(ctx, d)
	}
	t.Cleanup(func() { limited = deadline.WithTimeout })
	for execution := range 3 {
		opt := options(f, path)
		opt.Resume = execution > 0
		die := []int{4, 1, 0}[execution] // after so many events, in the middle of round 1
		if note != nil {
			if err := os.WriteFile(turnsFile(path), note, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		turns := 0
		opt.Observe = func(e Event) {
			if turns++; turns == die {
				cancel()
			}
		}
		out, err := start(ctx, plan(t, c, f), opt, f.now)
		cancel()
		if die > 0 {
			if err == nil {
				t.Fatal("it was not interrupted")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		crashed := 0
		for _, r := range out.Rows {
			if r.Status == results.Crashed {
				if crashed++; !strings.Contains(r.Reason, "the process ended 2 times in this point's turn") {
					t.Errorf("reason %q", r.Reason)
				}
			}
		}
		if crashed != 1 || len(history(out.Rows)) != 8 {
			t.Errorf("%d rows crashed, %d points; want 1 of 8", crashed, len(history(out.Rows)))
		}
	}
	if _, err := os.Stat(turnsFile(path)); err == nil {
		t.Error("the note is left")
	}
}
