package anatomy

import (
	"math"
	"testing"
)

// TestCount holds counts at 1024³ against what follows from the loops with paper and pencil.
func TestCount(t *testing.T) {
	const n = 1024
	for isa, most := range map[string]int{"avx2": Threads, "avx512": Threads, "neon": Blocking} {
		c, _ := CoreOf(isa)
		near := func(what string, have, want float64) {
			if math.Abs(have-want) > 0.05*want {
				t.Errorf("%s: %s %.4g, want %.4g", isa, what, have, want)
			}
		}
		// A column of 1024 elements, 4 KiB apart, falls into few sets: each is a line from L3.
		near("loops, L3", c.Count(Loops, n, n, n)[4], max(lineBytes/c.Levels[2].PerCycle, c.Levels[2].Cycles/min(c.Misses, c.Window/8)))
		// A row of B is read once for each row of A, and one of C stays in L1.
		near("order, L3", c.Count(Order, n, n, n)[4], wordBytes/c.Levels[2].PerCycle)
		// A panel of B comes from L3 for each MR rows of A, and from L2 once it is blocked.
		near("packing, L3", c.Count(Packing, n, n, n)[4], wordBytes/float64(c.MR)/c.Levels[2].PerCycle)
		if x := c.Count(Blocking, n, n, n); x[4] > c.Count(Packing, n, n, n)[4]/3 || x[5] > 0 {
			t.Errorf("%s: blocking reads %+v", isa, x)
		}
		_, cycles := c.Count(Blocking, n, n, n).Limit()
		near("blocking", cycles, 1/(c.FMAs*float64(c.Lanes)))
		before := math.Inf(1)
		for step := range most {
			_, cycles := c.Count(step, n, n, n).Limit()
			if cycles*1.05 > before {
				t.Errorf("%s: %s takes %.4g cycles, the step before %.4g", isa, Steps[step].Word, cycles, before)
			}
			before = cycles
		}
	}
	if _, ok := CoreOf("generic"); ok {
		t.Error("a model of any core")
	}
}
