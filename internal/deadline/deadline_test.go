package deadline

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestWatch: a gap in which the process stood still is not counted, however long.
func TestWatch(t *testing.T) {
	var stopped atomic.Int64 // what the clock has jumped ahead
	now := func() time.Time { return time.Now().Add(time.Duration(stopped.Load())) }
	why := errors.Join(errors.New("too slow"), context.DeadlineExceeded)
	c, cancel := watch(t.Context(), 200*time.Millisecond, why, now)
	defer cancel()
	stopped.Store(int64(time.Hour))
	for c.Paused() == 0 && c.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if c.Err() != nil || c.Paused() < time.Hour {
		t.Fatalf("after an hour of standing still: %v, paused %v", c.Err(), c.Paused())
	}
	<-c.Done()
	if c.Err() != context.DeadlineExceeded || context.Cause(c) != why {
		t.Errorf("after the limit: %v, %v", c.Err(), context.Cause(c))
	}
	child, stop := context.WithCancel(c)
	defer stop()
	if child.Err() != context.DeadlineExceeded {
		t.Errorf("what is made of it: %v", child.Err())
	}
}

func TestWithTimeout_Cancel(t *testing.T) {
	parent, end := context.WithCancel(t.Context())
	c, cancel := WithTimeout(parent, time.Hour)
	end()
	if <-c.Done(); c.Err() != context.Canceled {
		t.Errorf("%v", c.Err())
	}
	cancel()
	c, cancel = WithTimeout(t.Context(), time.Hour)
	cancel()
	if c.Err() != context.Canceled {
		t.Errorf("%v", c.Err())
	}
}
