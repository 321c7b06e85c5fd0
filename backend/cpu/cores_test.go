package cpu

import (
	"math"
	"testing"

	"matladder/tile"
)

// TestMeasureCores: figures that block shapes are ranked by are numbers above zero,
// whatever the machine.
func TestMeasureCores(t *testing.T) {
	for _, threads := range []int{1, 3} {
		b, err := Open(Options{Threads: threads, NoProbe: true})
		if err != nil {
			t.Fatal(err)
		}
		c := b.measureCores(t.Context(), 1e10)
		figures := map[string]float64{"shared": c.Shared, "memory": c.Memory, "launch": c.Launch, "task": c.Task}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			r := c.Rates[d]
			figures[d.String()], figures[d.String()+" a"], figures[d.String()+" b"] = r.FLOPs, r.PackA, r.PackB
			figures[d.String()+" fetched"] = r.Fetch
			if r.Rows < 1 || r.Columns < 1 || r.Depth < 1 {
				t.Errorf("%s: register tile %d×%d, %d deep", d, r.Rows, r.Columns, r.Depth)
			}
		}
		for name, v := range figures {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%d threads: %s: %v", threads, name, v)
			}
		}
		t.Logf("%d threads: %+v", threads, *c)
	}
}
