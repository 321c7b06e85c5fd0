package harness

import (
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
	out := mustRun(t, c, f, filepath.Join(t.TempDir(), "rows.csv"))
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
