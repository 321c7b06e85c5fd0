package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"matladder/backend"
	"matladder/check"
	"matladder/tile"
)

// executable is a sequence of plans with its arrays. Between Compile and the
// first Load it has neither memory nor goroutines.
type executable struct {
	sources []*tile.Program
	plans   []*plan
	bound   tile.Bindings

	pages  []byte                 // all memory
	arrays map[string]tile.Tensor // by name of the ref
	pool   *pool
	runs   []*run // by plan
	spec   backend.InputSpec
	seeded bool
	closed bool

	borrows bool // inputs and outputs are the callers'; they lie where calls say
	onCores bool // threads of the pool are bound to cores
	execution
}

// execution is how an executable runs.
type execution struct {
	checks  *references // what outputs are compared with
	pinned  bool        // threads are to be bound to cores
	giveWay bool        // workers that wait leave their processors to others
}

// newExecutable returns what runs the plans of programs, one after another. It has neither
// memory nor goroutines yet.
func newExecutable(programs []*tile.Program, plans []*plan, bound tile.Bindings, how execution) *executable {
	return &executable{sources: programs, plans: plans, bound: bound, execution: how}
}

// run is a plan with the memory and the workers that execute it.
type run struct {
	plan    *plan
	workers []*worker
	caches  []*cache // by operand; nil for none
	queues  queues
	phase   int              // the current one
	work    func(member int) // part, made once
}

// everything lists the refs of all arrays.
func (e *executable) everything() []*tile.Ref {
	return slices.Concat(e.bound.In, e.bound.Temp, e.bound.Out)
}

// own are those of arrays that the executable has memory for.
func (e *executable) own() []*tile.Ref {
	if e.borrows {
		return e.bound.Temp
	}
	return e.everything()
}

// size is the bytes of arrays and buffers.
func (e *executable) size() int64 {
	var n int64
	for _, r := range e.own() {
		n += r.ArrayBytes()
	}
	shared, local, workers := e.buffers()
	return n + int64(shared) + int64(local)*int64(workers) + gaps(workers)
}

// buffers is what the plans need; they run one after another in the same memory.
func (e *executable) buffers() (shared, local, workers int) {
	for _, p := range e.plans {
		shared, local = max(shared, p.sharedBytes), max(local, p.localBytes)
		workers = max(workers, p.tasks.workers)
	}
	return shared, local, workers
}

// errClosed is the answer to every call after Close.
var errClosed = fmt.Errorf("cpu: the executable is %w", backend.ErrClosed)

// prepare allocates all memory and starts the workers, if that has not been done, and
// poisons the outputs.
func (e *executable) prepare(ctx context.Context) error {
	if e.closed {
		return errClosed
	}
	if e.pages == nil {
		if err := e.allocate(); err != nil {
			return err
		}
	}
	return e.poisonAll(ctx)
}

// Poison fills what the programs write.
func (e *executable) Poison(ctx context.Context) error {
	switch {
	case e.closed:
		return errClosed
	case e.pages == nil:
		return errors.New("cpu: poison: nothing was loaded")
	}
	return e.poisonAll(ctx)
}

func (e *executable) poisonAll(ctx context.Context) error {
	for _, r := range slices.Concat(e.bound.Temp, e.bound.Out) {
		const strip = 1 << 22
		t := e.arrays[r.Name]
		for part := range slices.Chunk(t.Data, strip) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			poison(tile.Tensor{Dtype: t.Dtype, Data: part})
		}
	}
	return nil
}

// gap is how many bytes lie between the arrays and what each worker writes. Prefetchers
// of processors run ahead of an output that a worker writes, by many times the distance
// of two tiles' rows, and took the buffer behind it from another worker: float32 128³ on
// two cores of an AMD EPYC (Zen 3) takes 23.5 µs so and 25.5 without; 36 KiB were nearly
// enough.
const gap = 128 << 10

// gaps is what all gaps take: ahead of the shared memory and of each worker's.
func gaps(workers int) int64 { return gap * int64(1+workers) }

func (e *executable) allocate() error {
	var all space
	regions := map[string]region{}
	for _, r := range e.own() {
		regions[r.Name] = all.region(int(r.ArrayBytes()))
	}
	sharedBytes, localBytes, workers := e.buffers()
	all.size += gap
	sharedRegion := all.region(sharedBytes)
	locals := make([]region, workers)
	for i := range locals {
		all.size += gap
		locals[i] = all.region(localBytes)
	}
	pages, err := newPages(all.size)
	if err != nil {
		return fmt.Errorf("cpu: %w", err)
	}
	e.pages, e.arrays = pages, map[string]tile.Tensor{}
	for _, r := range e.everything() {
		e.arrays[r.Name] = tile.Tensor{Dtype: r.Dtype, Shape: r.Array, Data: regions[r.Name].of(pages)}
	}
	if e.pool == nil {
		e.pool = newPool(workers)
	}
	if e.giveWay {
		e.pool.giveWay()
	}
	shared := sharedRegion.of(pages)
	for _, p := range e.plans {
		r := &run{plan: p, queues: make(queues, p.tasks.workers), caches: make([]*cache, len(p.operands))}
		r.work = r.part
		for i, o := range p.operands {
			if o.keep == keepAll || o.keep == keepGroup {
				r.caches[i] = newCache(o, o.mem.of(shared))
			}
		}
		for i := range p.tasks.workers {
			r.workers = append(r.workers, e.newWorker(r, locals[i].of(pages)))
		}
		e.runs = append(e.runs, r)
	}
	return nil
}

func (e *executable) newWorker(r *run, mem []byte) *worker {
	p := r.plan
	w := &worker{
		frame: frame{
			plan: p, mem: mem, rows: p.rows.of(mem), data: make([][]byte, len(p.refs)),
			ids: ownLines[int](len(p.program.Grid)), places: ownLines[place](len(p.refs)),
		},
		pool: e.pool, caches: r.caches, tags: make([][]int, len(p.operands)),
	}
	for i, ref := range p.refs {
		if ref.Kind == tile.Scratch {
			w.data[i] = p.scratch[i].of(mem)
		} else {
			w.data[i] = e.arrays[ref.Name].Data
		}
	}
	for i, o := range p.operands {
		if o.keep == keepOwn {
			w.tags[i] = ownLines[int](o.slots)
		}
	}
	return w
}

// poison fills an output with what no product is likely to be, so that an
// element never written fails every check: NaN, or the most negative integer
// plus one.
func poison(t tile.Tensor) {
	switch t.Dtype {
	case tile.Float32:
		fill(view[uint32](t.Data), 0x7fc00bad)
	case tile.BFloat16:
		fill(view[uint16](t.Data), 0x7fcd)
	case tile.Int32:
		fill(view[uint32](t.Data), 0x80000001)
	default:
		fill(t.Data, 0x81)
	}
}

// Load copies arrays in and poisons the outputs.
func (e *executable) Load(in ...tile.Tensor) error {
	if len(in) != len(e.bound.In) {
		return fmt.Errorf("cpu: load: have %d arrays, want %d", len(in), len(e.bound.In))
	}
	for i, r := range e.bound.In {
		if err := in[i].Matches(r); err != nil {
			return fmt.Errorf("cpu: load: %w", err)
		}
	}
	if err := e.prepare(context.Background()); err != nil {
		return err
	}
	e.seeded = false
	for i, r := range e.bound.In {
		copy(e.arrays[r.Name].Data, in[i].Data)
	}
	return nil
}

// LoadSeeded makes the inputs and poisons the outputs.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	e.seeded = false
	if err := e.prepare(ctx); err != nil {
		return err
	}
	for _, r := range e.bound.In {
		if err := check.Fill(ctx, e.arrays[r.Name], r.Name, spec.Problem, spec.Seed, spec.Dist); err != nil {
			return fmt.Errorf("cpu: fill %s: %w", r.Name, err)
		}
	}
	e.spec, e.seeded = spec, true
	return nil
}

// Check verifies the output of the last Run.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	switch {
	case e.closed:
		return backend.CheckResult{}, errClosed
	case !e.seeded || e.spec != spec.InputSpec:
		return backend.CheckResult{}, errors.New("cpu: check: the inputs are not those of LoadSeeded with this spec")
	}
	in, out := map[string]tile.Tensor{}, map[string]tile.Tensor{}
	for _, r := range e.bound.In {
		in[r.Name] = e.arrays[r.Name]
	}
	for _, r := range e.bound.Out {
		out[r.Name] = e.arrays[r.Name]
	}
	out, err := check.Damage(spec.Fault, out)
	if err != nil {
		return backend.CheckResult{}, fmt.Errorf("cpu: check: %w", err)
	}
	r, err := e.checks.verify(ctx, spec.InputSpec, e.sources, in, out)
	if err != nil {
		return backend.CheckResult{}, fmt.Errorf("cpu: check: %w", err)
	}
	return r, nil
}

// Results copies arrays out.
func (e *executable) Results(out ...tile.Tensor) error {
	switch {
	case e.closed:
		return errClosed
	case e.pages == nil:
		return errors.New("cpu: results: nothing was loaded")
	case len(out) != len(e.bound.Out):
		return fmt.Errorf("cpu: results: have %d arrays, want %d", len(out), len(e.bound.Out))
	}
	for i, r := range e.bound.Out {
		if err := out[i].Matches(r); err != nil {
			return fmt.Errorf("cpu: results: %w", err)
		}
	}
	for i, r := range e.bound.Out {
		copy(out[i].Data, e.arrays[r.Name].Data)
	}
	return nil
}

// Close ends the workers and frees all memory. Closing twice is no error.
func (e *executable) Close() error {
	if e.closed || e.pages == nil {
		e.closed = true
		return nil
	}
	e.closed = true
	e.pool.close()
	pages := e.pages
	e.pages, e.arrays, e.runs = nil, nil, nil
	return freePages(pages)
}

// ownLines makes a slice with a cache line of nothing behind it: that of another worker
// may follow.
func ownLines[T any](n int) []T {
	var t T
	return make([]T, n, n+ceil(cacheLine, int(unsafe.Sizeof(t))))
}
