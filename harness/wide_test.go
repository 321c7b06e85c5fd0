package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// TestRun_Wide: rounds go where an interval is still wide: of points that take turns to
// those that spread, and what is left of a budget in the end to the group that has them.
func TestRun_Wide(t *testing.T) {
	f := newFake()
	f.misdo = map[string]do{"v3_block": {wild: 96}}
	c, err := Parse("wide.yaml", []byte("sizes: [96, 32]\ndtypes: [float32]\nkernels: [1, 3]\nrounds: {min: 6, max: 400}\ntime_budget: 6s\n"))
	if err != nil {
		t.Fatal(err)
	}
	begin := f.clock
	opt := options(f, filepath.Join(t.TempDir(), "rows.csv"))
	done, narrowed := 0.0, 0
	opt.Observe = func(e Event) {
		if e.Narrowed != narrowed {
			if narrowed != 0 || e.Narrowed != 1 || done < 0.99 {
				t.Errorf("narrowing %d wide intervals after %d, at %g", e.Narrowed, narrowed, done)
			}
			done, narrowed = 0, e.Narrowed // what is left of the time has progress of its own
		}
		if e.Done < done || e.Done > 1 {
			t.Errorf("progress goes from %g to %g", done, e.Done)
		}
		done = e.Done
	}
	out, err := start(context.Background(), plan(t, c, f), opt, f.now)
	if err != nil {
		t.Fatal(err)
	}
	if narrowed != 1 || done < 0.9 {
		t.Errorf("progress ends at %g, narrowing %d wide intervals", done, narrowed)
	}
	if spent := f.clock.Sub(begin); spent < c.TimeBudget*9/10 || spent > c.TimeBudget {
		t.Errorf("spent %s of %s", spent, c.TimeBudget)
	}
	rows := map[string]int{}
	for _, r := range out.Rows {
		rows[fmt.Sprint(r.Kernel, " ", r.M)]++
	}
	wild := rows["v3_block 96"]
	delete(rows, "v3_block 96")
	for point, n := range rows {
		if n > 40 || wild < 4*n {
			t.Errorf("%d rows of %s, which is known, %d of the point that spreads", n, point, wild)
		}
	}
}
