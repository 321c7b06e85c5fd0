package exec

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// Many take turns, some give waiting up, and nobody is forgotten.
func TestTurn(t *testing.T) {
	turn := newTurn()
	count := 0 // held by turn
	gaveUp := errors.New("gave up")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 2000 {
				ctx, cancel := context.Background(), func() {}
				if i%2 == 1 {
					c, end := context.WithCancelCause(ctx)
					ctx, cancel = c, func() { end(gaveUp) }
					if j%3 == 0 {
						go cancel()
					}
				}
				if err := turn.take(ctx); err == nil {
					count++
					if j%500 == 0 {
						time.Sleep(patience + time.Millisecond) // others are handed it
					}
					count--
					turn.give()
				} else if i%2 == 0 || err != gaveUp {
					t.Errorf("caller %d: %v", i, err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if count != 0 || !turn.try() {
		t.Errorf("count %d, state %d: want nobody to have it", count, turn.state.Load())
	}
}

// Who calls again and again does not keep others away.
func TestTurn_HandedOn(t *testing.T) {
	turn := newTurn()
	ctx, stop := context.WithCancel(t.Context())
	var greedy sync.WaitGroup
	greedy.Go(func() {
		for ctx.Err() == nil {
			if turn.take(context.Background()) == nil {
				time.Sleep(patience / 2)
				turn.give()
			}
		}
	})
	for range 20 {
		if err := turn.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		turn.give()
	}
	stop()
	greedy.Wait()
}
