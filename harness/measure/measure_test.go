package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/internal/deadline"
)

// exe is an executable whose launches take a time each, and some to start with.
type exe struct {
	backend.Executable
	start, each time.Duration
	method      string
	do          func(ctx context.Context) error
	runs        int
}

func (e *exe) Run(ctx context.Context, launches int) (backend.Sample, error) {
	e.runs++
	if e.do != nil {
		if err := e.do(ctx); err != nil {
			return backend.Sample{}, err
		}
	}
	return backend.Sample{Elapsed: e.start + time.Duration(launches)*e.each, Method: e.method}, nil
}

func TestLimits(t *testing.T) {
	l := Limits{Timeout: 50 * time.Millisecond}
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	_, err := l.Launch(context.Background(), &exe{do: hang}, 3)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 launches took longer than 50ms") {
		t.Errorf("a launch that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Launch(ctx, &exe{do: hang}, 3); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "longer") {
		t.Errorf("a launch that is cancelled: %v", err)
	}
	_, err = l.Launch(context.Background(), &exe{do: func(context.Context) error { panic("index out of range") }}, 1)
	var panicked *PanicError
	if !errors.As(err, &panicked) || len(panicked.Stack) == 0 {
		t.Errorf("a launch that panics: %v", err)
	}
	paused := 0
	l.Within = func(ctx context.Context, d time.Duration) (deadline.Context, context.CancelFunc) {
		if paused++; paused < 3 {
			return deadline.Stopped(ctx)
		}
		return deadline.WithTimeout(ctx, d)
	}
	e := &exe{}
	if _, err := l.Launch(context.Background(), e, 1); err != nil || e.runs != 3 {
		t.Errorf("a process that stood still twice: %d runs, %v", e.runs, err)
	}
}

// TestCalibrate: repetitions are long enough, and of loops the slope is what a launch
// takes, whatever it takes to start.
func TestCalibrate(t *testing.T) {
	l := Limits{Timeout: time.Minute}
	for _, each := range []time.Duration{30 * time.Nanosecond, 2 * time.Microsecond, time.Millisecond, 80 * time.Millisecond} {
		for _, method := range []string{"direct", "loop"} {
			e := &exe{each: each, method: method}
			if method == "loop" {
				e.start = 700 * time.Microsecond
			}
			c, err := l.Calibrate(context.Background(), e)
			if err != nil {
				t.Fatal(err)
			}
			last := c.Launches
			if method == "loop" {
				if last = c.Longer; c.Longer <= c.Launches || c.Settling != 0 || len(c.All()) != 2 {
					t.Errorf("%v: %+v", each, c)
				}
				at := func(n int) float64 { s, _ := e.Run(context.Background(), n); return s.Elapsed.Seconds() }
				if got := Slope(at(c.Launches), at(c.Longer), c.Launches, c.Longer); math.Abs(got/each.Seconds()-1) > 1e-6 {
					t.Errorf("a launch of %v takes %g s by the slope", each, got)
				}
			} else if (c.Settling > 0) != (each <= LongestSettling) || len(c.All()) != 1 {
				t.Errorf("%v: %+v", each, c)
			}
			if d := e.start + time.Duration(last)*each; d < Shortest {
				t.Errorf("%v by %s: a repetition of %v", each, method, d)
			}
		}
	}
}

// TestRound: all have one turn each, in any order, and share what became of the machine.
func TestRound(t *testing.T) {
	clock := time.Unix(1e9, 0)
	w := NewWatch(nil, nil, nil, func() time.Time { clock = clock.Add(time.Second); return clock })
	defer w.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	field := []int{0, 1, 2, 3, 4, 5, 6, 7}
	orders := map[string]bool{}
	for range 10 {
		var order []int
		_, err := Round(context.Background(), w, rng, field, func(place, one int) error {
			if place != len(order) {
				t.Errorf("place %d is the %d. turn", place, len(order))
			}
			order = append(order, one)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		orders[fmt.Sprint(order)] = true
		slices.Sort(order)
		if !slices.Equal(order, field) {
			t.Fatalf("turns of %v", order)
		}
	}
	if len(orders) < 9 {
		t.Errorf("%d orders in 10 rounds", len(orders))
	}
	failed := errors.New("broken")
	if _, err := Round(context.Background(), w, rng, field, func(place, _ int) error {
		if place == 3 {
			return failed
		}
		return nil
	}); err != failed {
		t.Errorf("a round that failed: %v", err)
	}
}
