package probe

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Team runs work on threads goroutines at once, round after round until the time is over, at
// least three times, and returns the best rate of a round: what all did, by the time from the
// first to start to the last to end. Work takes its member number and returns how much it did.
//
// Between rounds the goroutines wait awake: a thread that sleeps may be woken on
// the processor of another, and stays there for longer than a round.
func Team(ctx context.Context, threads int, total time.Duration, work func(member int) float64) float64 {
	const atLeast = 3
	var (
		best     float64
		members  = make([]member, max(1, threads))
		deadline = time.Now().Add(total)
		over     atomic.Bool
		gate     = barrier{size: int64(len(members))}
		wait     sync.WaitGroup
	)
	for i := range members {
		wait.Go(func() {
			for round := 1; ; round++ {
				gate.meet()
				if over.Load() {
					return
				}
				m := member{start: time.Now()}
				m.done = work(i)
				m.end = time.Now()
				members[i] = m
				gate.meet()
				if i == 0 {
					best = max(best, rate(members))
					over.Store(ctx.Err() != nil || round >= atLeast && !m.end.Before(deadline))
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return 0
	}
	return best
}

// Each runs work once on each of threads goroutines, all at the same time, as Team does: memory
// that a member makes lies near to it.
func Each(ctx context.Context, threads int, work func(member int)) {
	worked := make([]bool, max(1, threads))
	Team(ctx, threads, 0, func(member int) float64 {
		if !worked[member] {
			worked[member] = true
			work(member)
		}
		return 0
	})
}

// A barrier holds members until all have come, any number of times.
type barrier struct {
	size    int64
	arrived atomic.Int64
}

func (b *barrier) meet() {
	n := b.arrived.Add(1)
	full := (n + b.size - 1) / b.size * b.size
	until(func() bool { return b.arrived.Load() >= full })
}

// until waits awake, but for moments in which others of the process may run. Whoever is not
// there in a millisecond has lost its processor to another process, and the round is lost:
// then it sleeps in between, or it would take the processor that the other waits for.
func until(ok func() bool) {
	const (
		spins    = 1000
		patience = time.Millisecond
		nap      = 50 * time.Microsecond
	)
	var since time.Time
	for i := 1; !ok(); i++ {
		switch {
		case i%spins != 0:
		case since.IsZero():
			since = time.Now()
			runtime.Gosched()
		case time.Since(since) < patience:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}

// A member is what one goroutine did in a round.
type member struct {
	start, end time.Time
	done       float64
}

func rate(members []member) float64 {
	first, last, done := members[0].start, members[0].end, 0.0
	for _, m := range members {
		if m.start.Before(first) {
			first = m.start
		}
		if m.end.After(last) {
			last = m.end
		}
		done += m.done
	}
	return done / max(last.Sub(first), time.Nanosecond).Seconds()
}
