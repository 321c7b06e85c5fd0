// Package exec runs plans: it has the arrays and buffers, a pool of workers, and what a worker
// does in each program of the grid.
package exec

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"matladder/backend"
	"matladder/backend/cpu/internal/evict"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/internal/stage"
	"matladder/internal/each"
	"matladder/tile"
)

// Executable is a sequence of plans with its arrays. Between Compile and the
// first Load it has neither memory nor goroutines.
type Executable struct {
	*stage.Executable
	Plans []*plan.Plan
	Bound tile.Bindings

	Pages   []byte                 // all memory
	Tensors map[string]tile.Tensor // by name of the ref
	Pool    *Pool
	Runs    []*Run // by plan

	borrows bool // inputs and outputs are the callers'; they lie where calls say
	onCores bool // threads of the pool are bound to cores
	Options
}

// Options is how an executable runs.
type Options struct {
	Pinned  bool // threads are to be bound to cores
	GiveWay bool // workers that wait leave their processors to others
}

// NewExecutable returns what runs the plans of programs, one after another. It has neither
// memory nor goroutines yet.
func NewExecutable(plans []*plan.Plan, bound tile.Bindings, how Options) *Executable {
	e := &Executable{Plans: plans, Bound: bound, Options: how}
	e.Executable = stage.New("cpu", stage.Operands(bound.In), stage.Operands(bound.Out), core{e})
	return e
}

// core is what an executable does, whatever its stage.
type core struct{ *Executable }

// Run is a plan with the memory and the workers that execute it.
type Run struct {
	Plan    *plan.Plan
	Workers []*Worker
	caches  []*cache // by operand; nil for none
	Queues  Queues
	phase   int              // the current one
	work    func(member int) // part, made once

	launches int // on the same arrays
	began    time.Time
	took     time.Duration // the last that comes before one that is taped
	Replays  bool          // the next one is as it was taped
}

// everything lists the refs of all arrays.
func (e *Executable) everything() []*tile.Ref {
	return slices.Concat(e.Bound.In, e.Bound.Temp, e.Bound.Out)
}

// own are those of arrays that the executable has memory for.
func (e *Executable) own() []*tile.Ref {
	if e.borrows {
		return e.Bound.Temp
	}
	return e.everything()
}

// Size is the bytes of arrays and buffers.
func (e *Executable) Size() int64 {
	shared, local, workers := e.Buffers()
	return each.Sum(e.own(), (*tile.Ref).ArrayBytes) + int64(shared) + int64(local)*int64(workers) + gaps(workers)
}

// Buffers is what the plans need; they run one after another in the same memory.
func (e *Executable) Buffers() (shared, local, workers int) {
	for _, p := range e.Plans {
		shared, local = max(shared, p.SharedBytes), max(local, p.LocalBytes)
		workers = max(workers, p.Tasks.Workers)
	}
	return shared, local, workers
}

// Prepare is Fill with whatever lies in the inputs.
func (e *Executable) Prepare(ctx context.Context) error {
	return e.Fill(ctx, func(_ int, at tile.Tensor) (tile.Tensor, error) { return at, nil })
}

// Fill allocates all memory and starts the workers, if that has not been done, poisons the
// outputs and has source make the inputs where they lie.
func (e core) Fill(ctx context.Context, source backend.Source) error {
	if e.Pages == nil {
		if err := e.allocate(); err != nil {
			return err
		}
	}
	if err := e.Poison(ctx); err != nil {
		return err
	}
	for i, at := range e.Inputs() {
		if _, err := source(i, at); err != nil {
			return err
		}
	}
	return nil
}

// Inputs are the arrays.
func (e core) Inputs() []tile.Tensor { return e.of(e.Bound.In) }

// Outputs looks at the arrays.
func (e core) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	return look(e.of(e.Bound.Out))
}

func (e core) of(refs []*tile.Ref) []tile.Tensor {
	return each.Of(refs, func(r *tile.Ref) tile.Tensor { return e.Tensors[r.Name] })
}

// Poison fills what the programs write.
func (e core) Poison(ctx context.Context) error {
	for _, r := range slices.Concat(e.Bound.Temp, e.Bound.Out) {
		const strip = 1 << 22
		t := e.Tensors[r.Name]
		for part := range slices.Chunk(t.Data, strip) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			poison(tile.Tensor{Dtype: t.Dtype, Data: part})
		}
	}
	return nil
}

// gap is how many bytes lie between the arrays and what each worker writes. Prefetchers of
// processors run ahead of an output that a worker writes, by many times the distance of two tiles'
// rows, and took the buffer behind it from another worker: float32 128³ on two cores of an AMD EPYC
// (Zen 3) takes 23.5 µs so and 25.5 without; 36 KiB were nearly enough.
const gap = 128 << 10

// gaps is what all gaps take: ahead of the shared memory and of each worker's.
func gaps(workers int) int64 { return gap * int64(1+workers) }

func (e *Executable) allocate() error {
	var all memory.Space
	regions := map[string]memory.Region{}
	for _, r := range e.own() {
		regions[r.Name] = all.Region(int(r.ArrayBytes()))
	}
	sharedBytes, localBytes, workers := e.Buffers()
	all.Size += gap
	sharedRegion := all.Region(sharedBytes)
	locals := make([]memory.Region, workers)
	for i := range locals {
		all.Size += gap
		locals[i] = all.Region(localBytes)
	}
	pages, err := memory.NewPages(all.Size)
	if err != nil {
		return fmt.Errorf("cpu: %w", err)
	}
	e.Pages, e.Tensors = pages, map[string]tile.Tensor{}
	for _, r := range e.everything() {
		e.Tensors[r.Name] = tile.Tensor{Dtype: r.Dtype, Shape: r.Array, Data: regions[r.Name].Of(pages)}
	}
	if e.Pool == nil {
		e.Pool = NewPool(workers)
	}
	if e.GiveWay {
		e.Pool.giveWay()
	}
	shared := sharedRegion.Of(pages)
	for _, p := range e.Plans {
		r := &Run{Plan: p, Queues: make(Queues, p.Tasks.Workers), caches: make([]*cache, len(p.Operands))}
		r.work = r.part
		for i, o := range p.Operands {
			if o.Keep == plan.KeepAll || o.Keep == plan.KeepGroup {
				r.caches[i] = newCache(o, o.Mem.Of(shared))
			}
		}
		for i := range p.Tasks.Workers {
			r.Workers = append(r.Workers, e.newWorker(r, locals[i].Of(pages)))
		}
		e.Runs = append(e.Runs, r)
	}
	return nil
}

func (e *Executable) newWorker(r *Run, mem []byte) *Worker {
	p := r.Plan
	w := &Worker{
		Frame: plan.Frame{
			Plan: p, Mem: mem, Rows: p.Rows.Of(mem), Data: make([][]byte, len(p.Refs)),
			IDs: ownLines[int](len(p.Program.Grid)), Places: ownLines[plan.Place](len(p.Refs)), Memos: ownLines[plan.Memo](p.Memos),
			Wide: ownLines[plan.Widened](len(p.Refs)), Chained: ownLines[rows.Chain](p.Chained),
		},
		pool: e.Pool, caches: r.caches, tags: make([][]int, len(p.Operands)),
	}
	for i, ref := range p.Refs {
		if ref.Kind == tile.Scratch {
			w.Data[i] = p.Scratch[i].Of(mem)
		} else if base := p.Slots[ref.Ref]; base != nil {
			w.Data[i] = p.Scratch[p.Number(base)].Of(mem)
		} else {
			w.Data[i] = e.Tensors[ref.Name].Data
		}
	}
	for i, o := range p.Operands {
		if o.Keep == plan.KeepOwn {
			w.tags[i] = ownLines[int](o.Slots)
		}
	}
	for _, x := range p.Wides {
		w.Wide[x.Ref] = plan.Widened{Data: memory.View[float32](x.Mem.Of(mem)), LD: p.Refs[x.Ref].Cols, Block: -1}
	}
	w.shown = make([][2]int, len(p.Operands))
	raw, packed := 0, 0
	for _, o := range p.Operands {
		if o.Shown.From != nil { // a unit of elements of k, as they lie in memory and packed
			ref, unit := &p.Refs[o.Ref], o.Packing.Unit
			raw = max(raw, unit*ref.LD*ref.Dtype.Bits()/8)
			packed = max(packed, tile.Ceil(o.Lanes, o.Packing.Lanes)*o.Packing.Panel(unit))
		}
	}
	w.unit, w.unitPacked = memory.NewBuffer(raw), memory.NewBuffer(packed)
	w.finite = make([][]finiteness, len(p.Operands))
	for s, d := range p.AllDots() {
		if len(s.Adds) > 0 {
			w.finite[d.B] = ownLines[finiteness](p.Refs[p.Operands[d.B].Ref].BlockCount())
		}
	}
	return w
}

// poison fills an output with what no product is likely to be, so that an element never written
// fails every check: NaN, or the most negative integer plus one.
func poison(t tile.Tensor) {
	switch t.Dtype {
	case tile.Float32:
		memory.Fill(memory.View[uint32](t.Data), 0x7fc00bad)
	case tile.BFloat16:
		memory.Fill(memory.View[uint16](t.Data), 0x7fcd)
	case tile.Float16:
		memory.Fill(memory.View[uint16](t.Data), 0x7e0b)
	case tile.Int32:
		memory.Fill(memory.View[uint32](t.Data), 0x80000001)
	default:
		memory.Fill(t.Data, 0x81)
	}
}

// Close ends the workers and frees all memory.
func (e core) Close() error {
	if e.Pages == nil {
		return nil
	}
	e.Pool.Close()
	return e.free()
}

// free frees all memory.
func (e *Executable) free() error {
	pages := e.Pages
	e.Pages, e.Tensors, e.Runs = nil, nil, nil
	return memory.FreePages(pages)
}

// ownLines makes a slice with a cache line of nothing behind it: that of another worker may follow.
func ownLines[T any](n int) []T {
	var t T
	return make([]T, n, n+tile.Ceil(memory.CacheLine, int(unsafe.Sizeof(t))))
}

// Print writes the plans below a few lines about the machine.
func (e *Executable) Print(machine []string, hugePages bool) string {
	var t plan.Text
	t.Part("machine", machine...)
	for i, p := range e.Plans {
		if len(e.Plans) > 1 {
			t.Part("program", fmt.Sprintf("%d of %d: %s", i+1, len(e.Plans), p.Program.Name))
		}
		p.Print(&t)
	}
	arrays := each.Sum(e.everything(), (*tile.Ref).ArrayBytes)
	shared, local, workers := e.Buffers()
	line := fmt.Sprintf("%s: arrays %s, shared %s, %d × %s of a worker, %s between them", plan.KiB(e.Size()), plan.KiB(arrays), plan.KiB(int64(shared)), workers, plan.KiB(int64(local)), plan.KiB(gaps(workers)))
	if hugePages {
		line += "; huge pages asked for"
	}
	t.Part("memory", line)
	return t.String()
}

// Cool puts all memory of e out of the caches.
func (e *Executable) Cool(ctx context.Context) error {
	if err := e.Loaded("cool"); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.Pool.Run(func(member int) { evict.Part(e.Pages, member, e.Pool.Size) })
}
