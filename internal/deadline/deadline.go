// Package deadline has limits of time that count only while this process runs. One that
// was stopped (Ctrl-Z, a debugger, a frozen container) and goes on has not waited for
// anything meanwhile: by the clock every limit of it would be over. Sleep, too, ends with a context.
package deadline

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Pause is the time from which on a gap between two looks at the clock is one in which
// the process did not run. A busy machine leaves shorter ones.
const Pause = 2 * time.Second

// A Context is done when its limit is over, as of context.WithTimeout.
type Context struct {
	context.Context
	paused *atomic.Int64
}

// Err is context.DeadlineExceeded once the limit is over.
func (c Context) Err() error {
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// Paused is how long the process stood still since the context was made.
func (c Context) Paused() time.Duration { return time.Duration(c.paused.Load()) }

// WithTimeout is context.WithTimeout for time in which this process runs.
func WithTimeout(parent context.Context, limit time.Duration) (Context, context.CancelFunc) {
	return WithTimeoutCause(parent, limit, context.DeadlineExceeded)
}

// WithTimeoutCause is WithTimeout with another cause, which wraps context.DeadlineExceeded.
func WithTimeoutCause(parent context.Context, limit time.Duration, cause error) (Context, context.CancelFunc) {
	return watch(parent, limit, cause, time.Now)
}

func watch(parent context.Context, limit time.Duration, cause error, now func() time.Time) (Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c := Context{ctx, new(atomic.Int64)}
	done := make(chan struct{})
	begin := now()
	tick := min(max(limit/16, time.Millisecond), Pause/8)
	go func() {
		defer close(done)
		t := time.NewTicker(tick)
		defer t.Stop()
		left, last := limit, begin
		for left > 0 {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			at := now()
			gap := at.Sub(last)
			if last = at; gap >= Pause {
				c.paused.Add(int64(gap))
				gap = tick
			}
			left -= gap
		}
		cancel(cause)
	}()
	return c, func() {
		cancel(nil)
		<-done
	}
}

// Sleep waits for a while, or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Stopped is, for tests, the context of a process that has stood still since.
func Stopped(parent context.Context) (Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	c := Context{ctx, new(atomic.Int64)}
	c.paused.Store(int64(Pause))
	return c, cancel
}
