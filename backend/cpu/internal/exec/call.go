package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"matladder/backend"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/each"
	"matladder/tile"
)

// Programs that compute on arrays of their callers. Launches of several workers take
// turns on pools that all executables of a backend share, one for each number of workers:
// awake for the next launch, whichever program that is of. Launches of one worker run on
// the goroutines of their callers, as many at once as there are threads.

// Sharing is the pools that calls take turns on; who has the turn may use them.
type Sharing struct {
	turn  *turn
	pools map[int]*Pool // by number of members
	ended bool
}

// NewSharing has no pools yet.
func NewSharing() *Sharing { return &Sharing{turn: newTurn(1), pools: map[int]*Pool{}} }

// of returns the pool of a size, which is made when it is first wanted.
func (s *Sharing) of(size int) *Pool {
	if s.pools[size] == nil {
		s.pools[size] = NewPool(size)
		s.pools[size].end.busy.Store(true) // who is done first is awake when the last is, but parks soon after a launch
	}
	return s.pools[size]
}

// Close waits for the call that has the turn and ends the goroutines of the pools.
func (s *Sharing) Close() {
	place, _ := s.turn.take(context.Background(), false)
	defer s.turn.give(place)
	for _, c := range s.pools {
		c.Close()
	}
	s.pools, s.ended = nil, true
}

var errBackendClosed = fmt.Errorf("cpu: the backend is %w", backend.ErrClosed)

// errClosed is the answer to calls after Close.
var errClosed = fmt.Errorf("cpu: the executable is %w", backend.ErrClosed)

// callable is programs compiled for calls.
type callable struct {
	compiled *Executable // never given memory: what slots are made of
	workers  int
	sharing  *Sharing // nil for launches of one worker
	turn     *turn    // the sharing's, or one with a place for each slot
	slots    []*slot  // by place
	closed   atomic.Bool
	close    func() error
}

// slot is the memory of one launch, for who has its turn: that of the sharing, if there is one.
type slot struct {
	of    *callable
	place int
	e     *Executable // has none yet if it has no pages
	binds []bind      // of inputs and outputs, as workers see them
	packs []pack

	bound   *backend.Arguments // whose arrays workers see, as they were in that version
	version uint64
}

// bind is where a worker has an array of a call.
type bind struct {
	data  *[]byte
	array int // of in, or behind those of out
}

// pack is where a run has an operand that was packed beforehand.
type pack struct {
	cache *(*cache)
	input int // its number in In
	key   packedKey
}

// packedKey is an operand of a plan, by their numbers.
type packedKey struct{ plan, operand int }

// NewCallable returns e for calls, at most so many at once where one worker runs them.
func NewCallable(e *Executable, threads int, shared *Sharing) *callable {
	c := &callable{compiled: e}
	if _, _, c.workers = e.Buffers(); c.workers > 1 {
		c.sharing, c.turn = shared, shared.turn
	} else {
		c.turn = newTurn(threads)
	}
	for i := range c.turn.places {
		own := NewExecutable(e.Plans, e.Bound, Options{})
		own.borrows = true
		c.slots = append(c.slots, &slot{of: c, place: i, e: own})
	}
	c.close = sync.OnceValue(c.end)
	return c
}

// Borrow has e compute on arrays of its callers, of which packed are packed beforehand.
func (e *Executable) Borrow(packed []string) error {
	for _, name := range packed {
		if err := e.mayBePacked(name); err != nil {
			return err
		}
	}
	e.borrows = true
	return nil
}

// mayBePacked refuses an input that is more than the second operand of products.
func (e *Executable) mayBePacked(name string) error {
	found, more := false, false
	for _, p := range e.Plans {
		for i := range p.Refs {
			r := &p.Refs[i]
			if r.Name != name {
				continue
			}
			more = more || r.Kind != tile.In || !tile.TableFree(r.Index...)
			for _, o := range p.Operands {
				if o.Ref == i {
					found, more = true, more || o.Why != plan.WhyPacked || o.Shown.From != nil
				}
			}
			plan.AllSteps(p.Steps, func(s *plan.Step) {
				if s.Kind == plan.StepCompute {
					plan.Outside(s.Stmt.Value, func(x *tile.Expr) { more = more || x.Op == tile.OpLoad && x.Ref == r.Ref })
				}
			})
		}
	}
	switch {
	case more:
		return fmt.Errorf("cpu: %s cannot be packed beforehand, it is more than the second operand of products: %w", name, backend.ErrUnsupported)
	case !found:
		return fmt.Errorf("cpu: %s cannot be packed beforehand, it is no second operand of a product: %w", name, backend.ErrUnsupported)
	}
	return nil
}

// take waits for memory and, where several workers share a launch, for their pool. The slot
// is last, if that is free.
func (c *callable) take(ctx context.Context, last any) (*slot, error) {
	if ctx.Done() != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s, ok := last.(*slot)
	if !ok || s.of != c {
		s = c.slots[0]
	}
	if !c.turn.try(s.place) {
		i, err := c.turn.take(ctx, c.workers*len(c.slots) < runtime.GOMAXPROCS(0))
		if err != nil {
			return nil, err
		}
		s = c.slots[i]
	}
	if s.e.Pages == nil || c.closed.Load() || c.sharing != nil && c.sharing.ended {
		if err := c.ready(s); err != nil {
			s.give()
			return nil, err
		}
	}
	return s, nil
}

// give is the end of take.
func (s *slot) give() { s.of.turn.give(s.place) }

// ready gives a slot its memory and the pool.
func (c *callable) ready(s *slot) error {
	switch {
	case c.closed.Load():
		return errClosed
	case c.sharing != nil && c.sharing.ended:
		return errBackendClosed
	case c.sharing != nil:
		s.e.Pool = c.sharing.of(c.workers)
	}
	return s.allocate()
}

// allocate makes the memory of a slot and finds where workers look for arrays.
func (s *slot) allocate() error {
	if err := s.e.allocate(); err != nil {
		return err
	}
	at := map[string]int{}
	for i, r := range slices.Concat(s.e.Bound.In, s.e.Bound.Out) {
		at[r.Name] = i
	}
	for n, r := range s.e.Runs {
		for i := range r.Plan.Refs {
			array, ok := at[r.Plan.Refs[i].Name]
			if !ok || r.Plan.Refs[i].Kind == tile.Scratch {
				continue
			}
			for _, w := range r.Workers {
				s.binds = append(s.binds, bind{&w.Data[i], array})
			}
		}
		for i, o := range r.Plan.Operands {
			if o.Why == plan.WhyPacked {
				s.packs = append(s.packs, pack{&r.caches[i], at[r.Plan.Refs[o.Ref].Name], packedKey{n, i}})
			}
		}
	}
	return nil
}

// Call runs one launch on arrays of the caller.
func (c *callable) Call(ctx context.Context, x *backend.Arguments) error {
	return c.run(ctx, x, (*Executable).launch)
}

// run runs one by a function.
func (c *callable) run(ctx context.Context, x *backend.Arguments, launch func(*Executable) error) error {
	s, err := c.take(ctx, x.Last)
	if err != nil {
		return err
	}
	defer s.give()
	if err := s.bind(x); err != nil {
		return err
	}
	s.begin(ctx)
	switch err := launch(s.e); {
	case err != nil:
		return fmt.Errorf("cpu: call: %w", err)
	case s.e.Pool.stopped.Load():
		return context.Cause(ctx)
	}
	return nil
}

// bind has workers find the arrays of a call.
func (s *slot) bind(x *backend.Arguments) error {
	if s.bound == x && s.version == x.Version {
		return nil
	}
	s.bound = nil
	for _, b := range s.binds {
		var array []byte
		if b.array < len(x.In) {
			array = x.In[b.array]
		} else {
			array = x.Out[b.array-len(x.In)]
		}
		// A worker's own memory is in its core's cache: it is left there if nothing changed.
		if unsafe.SliceData(*b.data) != unsafe.SliceData(array) || len(*b.data) != len(array) {
			*b.data = array
			s.e.dropTapes()
		}
	}
	for _, p := range s.packs {
		input, ok := x.Packed[p.input].(*packedInput)
		if !ok || input.of != s.of {
			return errors.New("cpu: call: an input was packed for something else")
		}
		if at := input.caches[p.key]; *p.cache != at {
			*p.cache = at
			s.e.dropTapes()
		}
	}
	s.bound, s.version, x.Last = x, x.Version, s
	return nil
}

// begin readies the pool for a launch that ends when ctx does.
func (s *slot) begin(ctx context.Context) {
	pool := s.e.Pool
	if pool.stopped.Load() {
		pool.stopped.Store(false)
	}
	if done := ctx.Done(); pool.done != done {
		pool.done = done
	}
}

// packedInput is an input whose blocks are packed for good.
type packedInput struct {
	of     *callable
	caches map[packedKey]*cache
	bytes  int64
}

// Bytes is the memory of the blocks.
func (p *packedInput) Bytes() int64 { return p.bytes }

// Pack packs all blocks of an input, on all threads.
func (c *callable) Pack(ctx context.Context, name string, array []byte) (backend.Packed, error) {
	s, err := c.take(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer s.give()
	p := &packedInput{of: c, caches: map[packedKey]*cache{}}
	for n, r := range s.e.Runs {
		for i, o := range r.Plan.Operands {
			ref := &r.Plan.Refs[o.Ref]
			if o.Why != plan.WhyPacked || ref.Name != name {
				continue
			}
			cache := newCache(o, memory.NewBuffer(o.Slots*o.Block))
			s.bound = nil
			s.e.dropTapes()
			for _, w := range r.Workers {
				w.Data[o.Ref] = array
			}
			err := s.e.Pool.Run(func(member int) {
				if member >= len(r.Workers) {
					return
				}
				w := r.Workers[member]
				for block := 0; block < ref.BlockCount() && ctx.Err() == nil; block++ {
					w.Places[o.Ref] = ref.Place(block)
					cache.bring(w, i)
				}
			})
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return nil, fmt.Errorf("cpu: pack: %w", err)
			}
			cache.full, cache.far = true, int64(len(cache.mem)) > r.Plan.Machine.L2
			p.caches[packedKey{n, i}] = cache
			p.bytes += int64(len(cache.mem))
		}
	}
	return p, nil
}

// Close frees all memory.
func (c *callable) Close() error { return c.close() }

func (c *callable) end() error {
	c.closed.Store(true)
	var places []int // all: no call is left
	for range c.slots {
		i, _ := c.turn.take(context.Background(), false)
		places = append(places, i)
	}
	errs := each.Of(places, func(i int) error { return c.slots[i].free() })
	for _, i := range places {
		c.turn.give(i)
	}
	return errors.Join(errs...)
}

// free frees the memory of a slot that no call has; a pool that is shared stays.
func (s *slot) free() error {
	switch {
	case s.e.Pages == nil:
		return nil
	case s.of.sharing == nil:
		return s.e.Close()
	}
	return s.e.free()
}
