package exec

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"matladder/backend/cpu/internal/memory"
)

// turn is a lock of several places, which as many callers hold at a time; waiting ends with a
// context. A caller that comes back at once takes its place again without a switch of
// goroutines; after patience, if others wait, the place is handed on.
//
// To wake another thread may take the waker tens of microseconds, many launches of a small
// program. So one at a time of those who wait is told to look, and is told nothing more while
// it watches whether places are taken again.
type turn struct {
	waiting atomic.Int32
	hungry  atomic.Bool   // a watcher found places taken again and again for patience
	watched atomic.Bool   // somebody watches, or look has something for the next who waits
	look    chan struct{} // makes one who waits a watcher
	since   atomic.Int64  // when a place was last taken by one who had waited, a time.Duration from made on
	made    time.Time
	places  []place
}

// place is what one caller has: free, held or owed, and above that how often it was given.
type place struct {
	state atomic.Uint32
	_     [memory.CacheLine]byte // that of another thread may follow
}

const (
	free uint32 = iota
	held
	owed // nobody has it, and only a watcher may take it

	states = 4
)

const (
	// patience is how long a place is taken again and again while others wait: long beside
	// what handing it on costs.
	patience = 2 * time.Millisecond
	// pause is how long a place is free before a watcher takes it: longer than from one call
	// of a goroutine to the next.
	pause = time.Microsecond
)

func newTurn(places int) *turn {
	return &turn{look: make(chan struct{}, 1), made: time.Now(), places: make([]place, places)}
}

// try takes a place if it is free.
func (t *turn) try(i int) bool { return t.places[i].from(t.places[i].state.Load(), free) }

// from takes the place if it is as it was in v, and that is what is wanted.
func (p *place) from(v, wanted uint32) bool {
	return v%states == wanted && p.state.CompareAndSwap(v, v-wanted+held)
}

// any takes a place that is as wanted; false if none is.
func (t *turn) any(wanted uint32) (int, bool) {
	for i := range t.places {
		if p := &t.places[i]; p.from(p.state.Load(), wanted) {
			return i, true
		}
	}
	return 0, false
}

// take waits for a place, awake for a while if there are processors to spare; the error is
// the cause of a context that ended.
func (t *turn) take(ctx context.Context, spare bool) (int, error) {
	if i, ok := t.any(free); ok {
		return i, nil
	}
	began := time.Since(t.made)
	t.waiting.Add(1)
	i, ok := t.any(free)
	for !ok {
		select {
		case <-t.look:
			i, ok = t.watch(ctx, began, spare)
		case <-ctx.Done():
			t.leave()
			return 0, context.Cause(ctx)
		}
	}
	t.hungry.Store(false)
	t.since.Store(int64(time.Since(t.made)))
	t.leave()
	return i, nil
}

// leave ends the waiting of one caller: with a place, so that the next is awake when it is
// done, or without.
func (t *turn) leave() {
	if t.waiting.Add(-1) == 0 {
		t.forgive()
	}
	if t.waiting.Load() > 0 { // who came while places were still owed too
		t.tell()
	}
}

// forgive makes places free that are owed to nobody any more.
func (t *turn) forgive() {
	for i := range t.places {
		if v := t.places[i].state.Load(); v%states == owed {
			t.places[i].state.CompareAndSwap(v, v-owed+free)
		}
	}
}

// watch looks whether a place was handed on, or is free and not taken again: for a while if
// there are processors to spare, else once. Its goroutine waits since began.
func (t *turn) watch(ctx context.Context, began time.Duration, spare bool) (int, bool) {
	start := time.Since(t.made)
	var last *place // which was free, in that state, when it was first seen so
	var state uint32
	seen := start
	for spare && ctx.Err() == nil {
		now := time.Since(t.made)
		for i := range t.places {
			p := &t.places[i]
			switch v := p.state.Load(); {
			case v%states == free && p == last && v == state && now-seen < pause:
			case p.from(v, owed) || p == last && v == state && p.from(v, free):
				t.watched.Store(false)
				return i, true
			case v%states == free:
				last, state, seen = p, v, now
			}
		}
		switch {
		case now-start > 2*patience:
			spare = false
		case t.starving(began, now): // a place is handed on when a launch ends
			runtime.Gosched()
		}
	}
	t.starving(began, time.Since(t.made))
	t.watched.Store(false)
	if i, ok := t.any(free); ok { // from here on who gives one tells somebody
		return i, true
	}
	return t.any(owed)
}

// starving makes the turn hungry if one who waits since began has waited for too long.
func (t *turn) starving(began, now time.Duration) bool {
	if now-max(began, time.Duration(t.since.Load())) <= patience {
		return false
	}
	t.hungry.Store(true)
	return true
}

// give is the end of take.
func (t *turn) give(i int) {
	p := &t.places[i]
	next := p.state.Load() - held + states
	if t.hungry.Load() && t.waiting.Load() > 0 {
		next += owed
	}
	p.state.Store(next)
	if next%states == owed && t.waiting.Load() == 0 { // the last who waited gave up meanwhile
		t.forgive()
	}
	if t.waiting.Load() > 0 {
		t.tell()
	}
}

// tell has one who waits watch, now or when it comes to wait, if none does.
func (t *turn) tell() {
	if !t.watched.Load() && t.watched.CompareAndSwap(false, true) {
		t.look <- struct{}{}
	}
}
