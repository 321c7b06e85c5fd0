package exec

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"matladder/backend/cpu/internal/plan"
)

func TestPool(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, size := range []int{1, 2, 5} {
		c := NewPool(size)
		for round := range 50 {
			var sum atomic.Int64
			if err := c.Run(func(m int) { sum.Add(1 << m) }); err != nil {
				t.Fatal(err)
			}
			if sum.Load() != 1<<size-1 {
				t.Fatalf("round %d of %d: members %b took part", round, size, sum.Load())
			}
			if round == 25 {
				time.Sleep(2 * time.Millisecond) // the others park
			}
		}
		for m := range size {
			err := c.Run(func(member int) {
				if member == m {
					panic("gremlin")
				}
			})
			if err == nil || !strings.Contains(err.Error(), "gremlin") {
				t.Errorf("member %d panics: error %v", m, err)
			}
		}
		wrong := errors.New("wrong")
		if err := c.Run(func(int) { panic(plan.ProgramError{Err: wrong}) }); !errors.Is(err, wrong) {
			t.Errorf("error %v, want %v", err, wrong)
		}
		if err := c.Run(func(int) {}); err != nil {
			t.Errorf("after an error: %v", err)
		}
		c.Close()
	}
	for try := 0; runtime.NumGoroutine() > before; try++ {
		if time.Sleep(5 * time.Millisecond); try == 200 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestPool_Processors: members give way as soon as they are more than the processors
// left, and do not once they are no more.
func TestPool_Processors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	c := NewPool(2)
	defer c.Close()
	for _, processors := range []int{2, 1, 2} {
		runtime.GOMAXPROCS(processors)
		c.StayAwake(true)
		if crowded := processors < 2; c.start.crowded.Load() != crowded || c.end.crowded.Load() != crowded {
			t.Errorf("%d processors: crowded is not %v", processors, crowded)
		}
		if err := c.Run(func(int) {}); err != nil {
			t.Fatal(err)
		}
		c.StayAwake(false)
	}
}
