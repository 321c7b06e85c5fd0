package exec

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
)

// Pool is the goroutines of one executable, or of all whose launches share them. They wait parked between runs, and
// for a moment awake between the phases of one; close ends them. The goroutine
// that calls run is a member itself.
type Pool struct {
	Size    int
	round   func(member int) // what all do in the current round
	rounds  uint64
	start   counter         // of rounds
	end     counter         // of members that are done with one
	stopped atomic.Bool     // members leave the current round early
	done    <-chan struct{} // is closed when they shall; nil if nobody waits for that. Calls set it
	closing bool
	others  sync.WaitGroup

	mu  sync.Mutex
	err error // the first of the current round
}

// NewPool starts the goroutines of a pool, one less than its size.
func NewPool(size int) *Pool {
	c := &Pool{Size: size}
	c.start.init(size, 1)
	c.end.init(size, size)
	c.others.Add(size - 1)
	for i := 1; i < size; i++ {
		go func() {
			defer c.others.Done()
			pprof.SetGoroutineLabels(workerLabels) // profiles tell workers from the program's own goroutines
			for round := uint64(1); ; round++ {
				c.start.wait(round)
				if c.closing {
					return
				}
				c.guard(i)
				c.end.add()
				c.end.wait(round * c.end.each)
			}
		}()
	}
	return c
}

var workerLabels = pprof.WithLabels(context.Background(), pprof.Labels("matladder", "worker"))

// Run lets every member do f and returns when all have; the error is that of
// the first member that failed.
func (c *Pool) Run(f func(member int)) error {
	c.round = f
	if c.Size > 1 {
		c.rounds++
		c.start.add()
	}
	c.guard(0)
	if c.Size > 1 {
		c.end.add()
		c.end.wait(c.rounds * c.end.each)
	}
	err := c.err
	c.err, c.round = nil, nil // memory that the round used may be freed
	return err
}

// over reports whether members leave the current round early.
func (c *Pool) over() bool {
	if c.done != nil && !c.stopped.Load() {
		select {
		case <-c.done:
			c.stopped.Store(true)
		default:
		}
	}
	return c.stopped.Load()
}

// DebugVariable is backend cpu's DebugVariable.
const DebugVariable = "MATLADDER_DEBUG"

// panicError is a panic of a member, which is a bug.
type panicError struct {
	member int
	value  any
	stack  []byte
}

// Error is one line; with the stack if DebugVariable asks for it.
func (e *panicError) Error() string {
	message := "panic in a worker: " + strings.Join(strings.Fields(fmt.Sprint(e.value)), " ")
	if os.Getenv(DebugVariable) == "" {
		return message + " (" + DebugVariable + "=1 shows where)"
	}
	return message + "\n" + string(e.stack)
}

// guard runs the current round for one member; a panic becomes an error.
func (c *Pool) guard(member int) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err, ok := r.(plan.ProgramError)
		if !ok {
			err = plan.ProgramError{Err: &panicError{member, r, debug.Stack()}}
		}
		c.stopped.Store(true)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = err.Err
		}
	}()
	c.round(member)
}

// giveWay lets members give way where they wait, as if there were fewer processors than
// members: slower, but not beside others who want the processors.
func (c *Pool) giveWay() {
	for _, b := range []*counter{&c.start, &c.end} {
		b.givesWay = true
		b.count()
	}
}

// StayAwake says whether rounds follow each other closely. The number of processors may
// have changed since it last did.
func (c *Pool) StayAwake(yes bool) {
	for _, b := range []*counter{&c.start, &c.end} {
		b.count()
		b.busy.Store(yes)
	}
}

// Close ends the goroutines and waits for them.
func (c *Pool) Close() {
	c.closing = true
	c.start.add()
	c.others.Wait()
}

// counter lets goroutines wait until others have counted so far. A waiter stays awake
// for a short while and then parks. What waiters look at is in a cache line of its own: others
// that are written would take it from them.
type counter struct {
	size     int32
	each     uint64      // waiters wait for multiples of it
	crowded  atomic.Bool // more goroutines than processors: waiting must give way
	givesWay bool        // so too, however many processors there are
	busy     atomic.Bool
	_        [memory.CacheLine]byte
	value    atomic.Uint64
	_        [memory.CacheLine]byte
	parked   atomic.Int32 // waiters that must be woken, or are about to see that they need not be
	mu       sync.Mutex
	cond     *sync.Cond
}

// How often a waiter looks before it parks: for some 120 µs, or a millisecond while launches follow
// each other. To be woken takes longer than a small launch, up to 100 µs where the processor of a
// virtual machine has halted, and whoever waits for the one that is being woken must not park in
// turn. Where waiting gives way, it is not for long.
const (
	spins        = 200_000
	busySpins    = 2_000_000
	crowdedSpins = 100
)

func (b *counter) init(size, each int) {
	b.size, b.each = int32(size), uint64(each)
	b.cond = sync.NewCond(&b.mu)
	b.count()
}

// count compares goroutines with processors.
func (b *counter) count() { b.crowded.Store(b.givesWay || int(b.size) > runtime.GOMAXPROCS(0)) }

// add counts one more.
func (b *counter) add() {
	if b.value.Add(1)%b.each == 0 && b.parked.Load() > 0 {
		b.mu.Lock()
		b.cond.Broadcast()
		b.mu.Unlock()
	}
}

// wait returns when so many have been counted.
func (b *counter) wait(until uint64) {
	n, crowded := spins, b.crowded.Load()
	if crowded {
		n = crowdedSpins
	}
	for i := 0; i < n || i < busySpins && !crowded && b.busy.Load(); i++ {
		if b.value.Load() >= until {
			return
		}
		if crowded {
			runtime.Gosched()
		}
	}
	b.mu.Lock()
	b.parked.Add(1)
	for b.value.Load() < until {
		b.cond.Wait()
	}
	b.parked.Add(-1)
	b.mu.Unlock()
}

// CheckPin reports why so many threads cannot be bound to processors; nil if they can.
func CheckPin(threads int) error {
	cpus, err := Processors()
	switch {
	case err != nil:
		return fmt.Errorf("cpu: pin: %w", err)
	case len(cpus) < threads:
		return fmt.Errorf("cpu: pin: %d threads cannot have cores of their own: this process may use %d", threads, len(cpus))
	}
	return nil
}

// pin binds the members of the pool to processors of their own, if that was asked for, and
// returns what frees the thread of the caller, who is a member. Those of the others end with
// their goroutines.
func (e *Executable) pin() (free func(), err error) {
	if !e.Pinned {
		return func() {}, nil
	}
	cpus, err := Processors()
	if err != nil {
		return nil, err
	}
	if !e.onCores {
		failed := make([]error, e.Pool.Size)
		err := e.Pool.Run(func(member int) {
			if member > 0 {
				runtime.LockOSThread()
				failed[member] = bindThread(cpus[member%len(cpus)])
			}
		})
		if err := cmp.Or(err, cmp.Or(failed...)); err != nil {
			return nil, err
		}
		e.onCores = true
	}
	runtime.LockOSThread()
	if err := bindThread(cpus[0]); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() {
		if freeThread(cpus) == nil { // one that stays bound ends with its goroutine
			runtime.UnlockOSThread()
		}
	}, nil
}
