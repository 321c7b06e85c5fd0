package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Many take turns, some give waiting up, and nobody is forgotten.
func TestTurn(t *testing.T) {
	for _, places := range []int{1, 3} {
		t.Run(fmt.Sprint(places), func(t *testing.T) { testTurn(t, newTurn(places)) })
	}
}

func testTurn(t *testing.T, turn *turn) {
	counts := make([]int, len(turn.places)) // each held by its place
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
				if place, err := turn.take(ctx, i%4 < 2); err == nil {
					counts[place]++
					if j%500 == 0 {
						time.Sleep(patience + time.Millisecond) // others are handed it
					}
					counts[place]--
					turn.give(place)
				} else if i%2 == 0 || err != gaveUp {
					t.Errorf("caller %d: %v", i, err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	for i, n := range counts {
		if n != 0 || !turn.try(i) {
			t.Errorf("place %d: count %d, state %d: want nobody to have it", i, n, turn.places[i].state.Load())
		}
	}
}

// Two places are handed on to the only one who waits, which takes one: the other is free.
func TestTurn_OwedTwice(t *testing.T) {
	turn := newTurn(2)
	for i := range turn.places {
		if !turn.try(i) {
			t.Fatal("taken")
		}
	}
	turn.hungry.Store(true)
	turn.waiting.Add(1)
	turn.give(0)
	turn.give(1)
	turn.waiting.Add(-1)
	place, err := turn.take(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !turn.try(1 - place) {
		t.Errorf("place %d is owed to nobody", 1-place)
	}
}

// Who calls again and again does not keep others away.
func TestTurn_HandedOn(t *testing.T) {
	turn := newTurn(1)
	ctx, stop := context.WithCancel(t.Context())
	var greedy sync.WaitGroup
	greedy.Go(func() {
		for ctx.Err() == nil {
			if place, err := turn.take(context.Background(), true); err == nil {
				time.Sleep(patience / 2)
				turn.give(place)
			}
		}
	})
	for i := range 20 {
		place, err := turn.take(t.Context(), i%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		turn.give(place)
	}
	stop()
	greedy.Wait()
}
