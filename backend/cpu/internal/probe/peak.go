package probe

import (
	"context"
	"time"
)

// budget is the time one measurement takes.
const budget = 120 * time.Millisecond

// A loop is register-only arithmetic of one kind.
type loop struct {
	run func(turns int)
	ops float64 // multiplications and additions in a turn
}

// PeakFLOPs measures the FLOP/s (OP/s for integers) that threads goroutines
// reach together by the fastest multiply-add of an instruction set: isa is
// "generic", "avx2", "avx512", "amx" or "neon", dtype "float32", "bfloat16" or "int8", the
// type of the factors. Sums are float32 and exact int32, as in the kernels.
// It is zero where isa or dtype is unknown, where this processor lacks it,
// and if ctx ends first.
//
// All goroutines compute at the same time, but each is judged by its own best
// run, so that other work on the machine, which rarely leaves all of them
// alone at once, lowers nothing.
func PeakFLOPs(ctx context.Context, isa, dtype string, threads int) float64 {
	best := 0.0
	threads = min(max(1, threads), Host().Threads)
	loops := loops(isa, dtype)
	for _, l := range loops {
		turns, each := l.turnsFor(300*time.Microsecond), make([]float64, threads)
		Team(ctx, threads, budget/time.Duration(len(loops)), func(member int) float64 {
			start := time.Now()
			l.run(turns)
			each[member] = max(each[member], l.ops*float64(turns)/max(time.Since(start), 1).Seconds())
			return float64(turns)
		})
		if ctx.Err() != nil {
			return 0
		}
		sum, most := 0.0, 0.0
		for _, r := range each {
			sum, most = sum+r, max(most, r)
		}
		// Threads that share a core share its units.
		best = max(best, min(sum, most*float64(Host().Cores)))
	}
	return best
}

// turnsFor finds how many turns take about d; it also wakes the units up.
func (l loop) turnsFor(d time.Duration) int {
	for turns := 1 << 10; ; turns *= 2 {
		start := time.Now()
		l.run(turns)
		if time.Since(start) >= d || turns >= 1<<30 {
			return turns
		}
	}
}
