package probe

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"matladder/machine"
)

// sharingTime is how long each figure of machine.CoreToCore is measured for.
const sharingTime = 2 * time.Millisecond

// CoreToCore measures machine.CoreToCore between threads, in some milliseconds. It is zero for one
// thread, and if ctx ends first.
func CoreToCore(ctx context.Context, threads int) machine.CoreToCore {
	if threads < 2 {
		return machine.CoreToCore{}
	}
	const rounds = 16
	var ball atomic.Int64
	goes := Team(ctx, threads, sharingTime, func(member int) float64 {
		for range rounds { // each thread in turn writes the cache line, which the next waits for
			until(func() bool { return ball.Load()%int64(threads) == int64(member) })
			ball.Add(1)
		}
		return rounds
	})
	var s machine.CoreToCore
	s.ReadOthers, s.WriteOthers = handed(ctx, threads)
	if goes > 0 {
		s.Line = 1 / goes
	}
	return s
}

// handed has one thread write over and over what the others read, and returns the rate of
// those and of that one.
func handed(ctx context.Context, threads int) (read, written float64) {
	const bytes, turns = 16 << 10, 8 // the first-level cache of each holds it
	var wrote, looked atomic.Int64
	b, source := make([]byte, bytes), make([]byte, bytes)
	touch(source)
	best := slices.Repeat([]time.Duration{1 << 62}, threads)
	at := make([]int64, threads)
	Team(ctx, threads, sharingTime, func(member int) float64 {
		for range turns {
			at[member]++
			until(func() bool { return member == 0 || wrote.Load() >= at[member] })
			start := time.Now()
			if member > 0 {
				keep(readAll(b))
				best[member] = min(best[member], time.Since(start))
				looked.Add(1)
				continue
			}
			copy(b, source)
			wrote.Add(1) // when all of b is written
			best[0] = min(best[0], time.Since(start))
			until(func() bool { return looked.Load() >= at[0]*int64(threads-1) })
		}
		return turns
	})
	if ctx.Err() != nil {
		return 0, 0
	}
	return bytes / slices.Max(best[1:]).Seconds(), bytes / best[0].Seconds()
}

// Occupy keeps so many threads at work for a time, if ctx does not end first: the host of a
// virtual machine places cores that work elsewhere than cores that rest.
func Occupy(ctx context.Context, threads int, d time.Duration) {
	Team(ctx, threads, d, func(int) float64 {
		for start := time.Now(); time.Since(start) < time.Millisecond; {
		}
		return 1
	})
}

// sharedTime is how long Shared measures.
const sharedTime = 6 * time.Millisecond

// Shared measures the bytes/s that each of some threads, all at the same time, reads from the
// cache that cores share: of an array that a second-level cache does not hold and that none has
// written recently. It takes some ten milliseconds, and is zero if ctx ends first.
func Shared(ctx context.Context, threads int) float64 {
	size := 4 * cmp.Or(Host().L2, 1<<20)
	if l3 := Host().L3; l3 > 0 {
		size = min(size, max(l3/2, size/2))
	}
	b := make([]byte, size)
	touch(b)
	threads = max(1, threads)
	return Team(ctx, threads, sharedTime, func(member int) float64 {
		at := member * size / threads // no two read the same lines at the same time
		keep(readAll(b[at:]))
		keep(readAll(b[:at]))
		return float64(size)
	}) / float64(threads)
}

// readAll goes through all of b, in which no byte is zero, by the widest loads that the
// standard library has.
func readAll(b []byte) int { return bytes.IndexByte(b, 0) }

func touch(b []byte) {
	for i := range b {
		b[i] = 1
	}
}

// Team runs work on threads goroutines at once, round after round until the time is over, at
// least three times, and returns the best rate of a round: what all did, by the time from the
// first to start to the last to end. Work takes its member number and returns how much it did.
//
// Between rounds the goroutines wait awake: a thread that sleeps may be woken on
// the processor of another, and stays there for longer than a round.
func Team(ctx context.Context, threads int, total time.Duration, work func(member int) float64) float64 {
	best, _ := team(ctx, threads, total, work)
	return best
}

// OwnRates is Team, but judges each member by its own best round: other work on the machine, which
// rarely leaves all of them alone at once, lowers nothing. It returns their sum and the largest.
func OwnRates(ctx context.Context, threads int, total time.Duration, work func(member int) float64) (sum, most float64) {
	_, own := team(ctx, threads, total, work)
	for _, rate := range own {
		sum += rate
	}
	return sum, slices.Max(own)
}

func team(ctx context.Context, threads int, total time.Duration, work func(member int) float64) (best float64, own []float64) {
	const atLeast = 3
	var (
		members  = make([]member, max(1, threads))
		deadline = time.Now().Add(total)
		over     atomic.Bool
		gate     = barrier{size: int64(len(members))}
		wait     sync.WaitGroup
	)
	own = make([]float64, len(members))
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
				members[i], own[i] = m, max(own[i], rate([]member{m}))
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
		clear(own)
		return 0, own
	}
	return best, own
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
