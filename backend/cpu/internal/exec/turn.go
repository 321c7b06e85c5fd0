package exec

import (
	"context"
	"sync/atomic"
	"time"

	"matladder/backend/cpu/internal/memory"
)

// turn lets one caller at a time have something, as a sync.Mutex does, and ends waiting
// with a context. Who calls again and again takes it again without a switch of goroutines,
// until somebody has waited for patience: then it is handed on.
type turn struct {
	state   atomic.Uint32
	waiting atomic.Int32
	hungry  atomic.Bool   // somebody waited for patience
	roused  atomic.Bool   // somebody was told that it is free, and has not looked yet
	look    chan struct{} // tells one who waits to look

	_ [memory.CacheLine]byte // those of other threads' turns may follow
}

const (
	free uint32 = iota
	held
	owed // nobody has it, and only who was told to look may take it
)

// patience is how long callers wait before the turn is handed on to them: long beside
// what handing on costs, some microseconds.
const patience = 2 * time.Millisecond

func newTurn() *turn { return &turn{look: make(chan struct{}, 1)} }

// try takes the turn if it is free.
func (t *turn) try() bool { return t.state.CompareAndSwap(free, held) }

// take waits for the turn; the error is the cause of a context that ended.
func (t *turn) take(ctx context.Context) error {
	if t.try() {
		return nil
	}
	began := time.Now()
	t.waiting.Add(1)
	for told := false; ; {
		if t.try() || told && t.state.CompareAndSwap(owed, held) {
			t.waiting.Add(-1)
			t.hungry.Store(time.Since(began) > patience) // those behind came soon after
			return nil
		}
		if told && time.Since(began) > patience {
			t.hungry.Store(true)
		}
		select {
		case <-t.look:
			told = true
			t.roused.Store(false)
		case <-ctx.Done():
			if t.waiting.Add(-1) == 0 {
				t.state.CompareAndSwap(owed, free)
			}
			return context.Cause(ctx)
		}
	}
}

// give is the end of take.
func (t *turn) give() {
	if t.hungry.Load() && t.waiting.Load() > 0 {
		t.state.Store(owed)
		t.tell()
		return
	}
	t.state.Store(free)
	if t.waiting.Load() > 0 && t.roused.CompareAndSwap(false, true) {
		t.tell()
	}
}

// tell has one who waits look, now or when it comes to wait.
func (t *turn) tell() {
	select {
	case t.look <- struct{}{}:
	default:
	}
}
