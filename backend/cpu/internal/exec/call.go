package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"matladder/backend"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Programs that compute on arrays of their callers. Launches of several workers take
// turns on pools that all executables of a backend share, one for each number of workers:
// awake for the next launch, whichever program that is of. Launches of one worker run on
// the goroutines of their callers, as many at once as there are threads.

// Sharing is the pools that calls take turns on.
type Sharing struct {
	mu    sync.Mutex
	turn  chan pools // holds them while no call has them
	ended bool
}

// pools are by their number of members.
type pools map[int]*Pool

// of returns the pool of a size, which is made when it is first wanted.
func (c pools) of(size int) *Pool {
	if c[size] == nil {
		c[size] = NewPool(size)
		c[size].end.busy.Store(true) // who is done first is awake when the last is, but parks soon after a launch
	}
	return c[size]
}

// start returns what holds the pools.
func (s *Sharing) start() (chan pools, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errBackendClosed
	}
	if s.turn == nil {
		s.turn = make(chan pools, 1)
		s.turn <- pools{}
	}
	return s.turn, nil
}

// Close waits for the call that has the pools and ends their goroutines.
func (s *Sharing) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && !s.ended {
		for _, c := range <-s.turn {
			c.Close()
		}
		close(s.turn)
	}
	s.ended = true
}

var errBackendClosed = fmt.Errorf("cpu: the backend is %w", backend.ErrClosed)

// callable is programs compiled for calls.
type callable struct {
	compiled *Executable // never given memory: what slots are made of
	workers  int
	turn     chan pools // nil for launches of one worker
	slots    chan *slot // those that no call has
	closing  chan struct{}
	close    func() error
}

// slot is the memory of one launch.
type slot struct {
	e     *Executable // has none yet if it has no pages
	pools pools       // while a call has them
	binds []bind      // of inputs and outputs, as workers see them
	packs []pack
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
func NewCallable(e *Executable, threads int, shared *Sharing) (*callable, error) {
	c := &callable{compiled: e, closing: make(chan struct{})}
	n := threads
	if _, _, c.workers = e.Buffers(); c.workers > 1 {
		n = 1
		var err error
		if c.turn, err = shared.start(); err != nil {
			return nil, err
		}
	}
	c.slots = make(chan *slot, n)
	for range n {
		c.slots <- &slot{e: &Executable{sources: e.sources, Plans: e.Plans, Bound: e.Bound, borrows: true}}
	}
	c.close = sync.OnceValue(c.end)
	return c, nil
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
	found := false
	for _, p := range e.Plans {
		for i := range p.Refs {
			r := &p.Refs[i]
			if r.Name != name {
				continue
			}
			for _, o := range p.Operands {
				if o.Ref == i && o.Why != plan.WhyPacked {
					return fmt.Errorf("cpu: %s cannot be packed beforehand, it is more than the second operand of products: %w", name, backend.ErrUnsupported)
				}
				found = found || o.Ref == i
			}
			read := false
			plan.AllSteps(p.Steps, func(s *plan.Step) {
				if s.Stmt.Value == nil {
					return
				}
				plan.Outside(s.Stmt.Value, func(x *tile.Expr) { read = read || x.Op == tile.OpLoad && x.Ref == r.Ref })
			})
			if read || r.Kind != tile.In || !tile.TableFree(r.Index...) {
				return fmt.Errorf("cpu: %s cannot be packed beforehand, it is more than the second operand of products: %w", name, backend.ErrUnsupported)
			}
		}
	}
	if !found {
		return fmt.Errorf("cpu: %s cannot be packed beforehand, it is no second operand of a product: %w", name, backend.ErrUnsupported)
	}
	return nil
}

// take waits for memory and, where several workers share a launch, for the pool.
func (c *callable) take(ctx context.Context) (*slot, error) {
	var s *slot
	select {
	case s = <-c.slots:
	default:
		select {
		case s = <-c.slots:
		case <-c.closing:
			return nil, errClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := c.ready(ctx, s); err != nil {
		c.slots <- s
		return nil, err
	}
	return s, nil
}

// ready gives a slot its memory and the pool.
func (c *callable) ready(ctx context.Context, s *slot) error {
	select {
	case <-c.closing:
		return errClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if c.turn != nil {
		var all pools
		select {
		case all = <-c.turn:
		default:
			select {
			case all = <-c.turn:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if all == nil {
			return errBackendClosed
		}
		s.pools, s.e.Pool = all, all.of(c.workers)
	}
	if s.e.Pages == nil {
		if err := s.allocate(); err != nil {
			c.free(s)
			return err
		}
	}
	return nil
}

// free gives the pool back.
func (c *callable) free(s *slot) {
	if c.turn != nil {
		c.turn <- s.pools
	}
}

// give is the end of take.
func (c *callable) give(s *slot) {
	c.free(s)
	c.slots <- s
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
func (c *callable) Call(ctx context.Context, out, in [][]byte, packed []backend.Packed) error {
	s, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer c.give(s)
	if err := s.bind(c, out, in, packed); err != nil {
		return err
	}
	s.begin(ctx)
	return s.ended(ctx, s.e.launch())
}

// bind has workers find the arrays of a call.
func (s *slot) bind(c *callable, out, in [][]byte, packed []backend.Packed) error {
	for _, b := range s.binds {
		var array []byte
		if b.array < len(in) {
			array = in[b.array]
		} else {
			array = out[b.array-len(in)]
		}
		// A worker's own memory is in its core's cache: it is left there if nothing changed.
		if unsafe.SliceData(*b.data) != unsafe.SliceData(array) || len(*b.data) != len(array) {
			*b.data = array
		}
	}
	for _, p := range s.packs {
		x, ok := packed[p.input].(*packedInput)
		if !ok || x.of != c {
			return errors.New("cpu: call: an input was packed for something else")
		}
		if at := x.caches[p.key]; *p.cache != at {
			*p.cache = at
		}
	}
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

// ended is the error of a call whose launch ended with err.
func (s *slot) ended(ctx context.Context, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("cpu: call: %w", err)
	case s.e.Pool.stopped.Load():
		return context.Cause(ctx)
	}
	return nil
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
	s, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer c.give(s)
	p := &packedInput{of: c, caches: map[packedKey]*cache{}}
	for n, r := range s.e.Runs {
		for i, o := range r.Plan.Operands {
			ref := &r.Plan.Refs[o.Ref]
			if o.Why != plan.WhyPacked || ref.Name != name {
				continue
			}
			cache := newCache(o, memory.NewBuffer(o.Slots*o.Block))
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
			cache.full = true
			p.caches[packedKey{n, i}] = cache
			p.bytes += int64(len(cache.mem))
		}
	}
	return p, nil
}

// Close frees all memory.
func (c *callable) Close() error { return c.close() }

func (c *callable) end() error {
	close(c.closing)
	var errs []error
	for range cap(c.slots) {
		s := <-c.slots
		if s.e.Pages == nil {
			continue
		}
		if c.turn == nil {
			errs = append(errs, s.e.Close())
			continue
		}
		pages := s.e.Pages
		s.e.Pages, s.e.Arrays, s.e.Runs = nil, nil, nil
		errs = append(errs, memory.FreePages(pages))
	}
	return errors.Join(errs...)
}
