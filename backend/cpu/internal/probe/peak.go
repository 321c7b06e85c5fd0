package probe

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
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
		each := l.rates(ctx, threads, budget/time.Duration(len(loops)))
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

// rates runs the loop on some goroutines for a time and returns the best rate
// of each, counting only runs during which all were at it.
func (l loop) rates(ctx context.Context, threads int, d time.Duration) []float64 {
	turns := l.turnsFor(300 * time.Microsecond)
	var (
		best    = make([]float64, threads)
		started atomic.Int64
		over    atomic.Bool
		wait    sync.WaitGroup
	)
	for i := range best {
		wait.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Add(1)
			for started.Load() < int64(threads) {
				runtime.Gosched()
			}
			for end := time.Now().Add(d); ; {
				start := time.Now()
				l.run(turns)
				now := time.Now()
				// The first run always counts: a rate is never zero.
				if r := l.ops * float64(turns) / max(now.Sub(start), 1).Seconds(); best[i] == 0 || !over.Load() {
					best[i] = max(best[i], r)
				}
				if now.After(end) || ctx.Err() != nil {
					over.Store(true)
					return
				}
			}
		})
	}
	wait.Wait()
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
