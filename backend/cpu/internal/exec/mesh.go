package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"matladder/backend"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/each"
	"matladder/tile"
)

// mesh is the devices that run one program: a worker each, with memory of its own.
type mesh struct {
	workers []*Worker

	mu     sync.Mutex
	moved  *sync.Cond
	counts [][]int64 // by device and slot of the program's semaphores
	waits  []waiting // by device
	done   []bool    // by device
	err    error
}

// waiting is what a device waits for; n is 0 while it goes on.
type waiting struct {
	slot int
	n    int64
}

// errStuck ends devices that wait for each other.
var errStuck = errors.New("all devices wait for each other")

func newMesh(p *tile.Program) *mesh {
	m := &mesh{waits: make([]waiting, p.Devices()), done: make([]bool, p.Devices())}
	m.moved = sync.NewCond(&m.mu)
	slots := each.Sum(p.Semaphores, func(s *tile.Semaphore) int { return s.Slots })
	for range p.Devices() {
		m.counts = append(m.counts, make([]int64, slots))
	}
	return m
}

// add counts.
func (m *mesh) add(device, slot int, n int64) {
	m.mu.Lock()
	m.counts[device][slot] += n
	m.mu.Unlock()
	m.moved.Broadcast()
}

// await takes n from a counter once it is there.
func (m *mesh) await(device, slot int, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits[device] = waiting{slot, n}
	for m.counts[device][slot] < n && m.err == nil {
		if m.stuck() {
			m.end(errStuck)
			break
		}
		m.moved.Wait()
	}
	m.waits[device] = waiting{}
	if m.err != nil {
		panic(plan.ProgramError{Err: m.err})
	}
	m.counts[device][slot] -= n
}

// stuck reports whether every device that is not done waits for what is not there.
func (m *mesh) stuck() bool {
	for d, w := range m.waits {
		if !m.done[d] && (w.n == 0 || m.counts[d][w.slot] >= w.n) {
			return false
		}
	}
	return true
}

// end stops all devices; the first error stays.
func (m *mesh) end(err error) {
	if m.err == nil {
		m.err = err
	}
	m.moved.Broadcast()
}

// leave is called by a device that is done.
func (m *mesh) leave(device int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done[device] = true; err != nil {
		m.end(err)
	} else if m.stuck() {
		m.moved.Broadcast() // those that wait see it
	}
}

// RunMesh runs executables of the same programs once, each as one device of their mesh, in
// the order of their numbers. They are loaded, and of one worker each. Copies between devices
// are copies in memory.
func RunMesh(ctx context.Context, programs []*tile.Program, devices []*Executable) error {
	meshes := make([]*mesh, len(programs))
	for i, p := range programs {
		meshes[i] = newMesh(p)
		for d, e := range devices {
			w := e.Runs[i].Workers[0]
			w.mesh, w.device, w.Coordinates = meshes[i], d, p.Coordinates(d)
			meshes[i].workers = append(meshes[i].workers, w)
		}
	}
	for _, e := range devices {
		e.Pool.stopped.Store(false)
	}
	stop := context.AfterFunc(ctx, func() {
		for _, e := range devices {
			e.Pool.stopped.Store(true)
		}
		for _, m := range meshes {
			m.mu.Lock()
			m.end(context.Cause(ctx))
			m.mu.Unlock()
		}
	})
	defer stop()
	errs := make([]error, len(devices))
	var all sync.WaitGroup
	for d, e := range devices {
		all.Go(func() {
			_, errs[d] = e.Launch(1, func() (backend.Sample, error) { return backend.Sample{}, e.launch() })
			for _, m := range meshes {
				m.leave(d, errs[d])
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("cpu: run: %w", context.Cause(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cpu: run: %w", err)
	}
	return nil
}

// copying does what a statement about copies or signals says. A copy happens where it is
// started: a program that Verify accepts does not tell that from later.
func (w *Worker) copying(s *tile.Stmt) {
	switch s.Kind {
	case tile.Start:
		w.start(s.Copy)
	case tile.Wait:
		w.await(s.Copy.Arrived, s.Copy.To.Bytes())
	case tile.WaitSent:
		w.await(s.Copy.Sent, s.Copy.To.Bytes())
	case tile.Signal:
		if w.mesh != nil {
			w.mesh.add(w.neighbour(s.Signal.Along, s.Signal.Device), w.counter(s.Signal.To), 1)
		}
	case tile.Await:
		w.await(s.Slot, int64(s.Count))
	}
}

func (w *Worker) neighbour(along *tile.Axis, at tile.IndexExpr) int {
	return w.Plan.Program.DeviceAt(w.device, along, tile.Eval(at, &w.Frame))
}

// counter is the number of a slot among all of the program.
func (w *Worker) counter(s tile.Slot) int {
	n := 0
	for _, x := range w.Plan.Program.Semaphores {
		if x == s.Semaphore {
			break
		}
		n += x.Slots
	}
	return n + tile.Eval(s.Index, &w.Frame)
}

// await waits until a counter of this device is n; a device alone has nothing to wait for.
func (w *Worker) await(s tile.Slot, n int64) {
	if w.mesh != nil {
		w.mesh.await(w.device, w.counter(s), n)
	}
}

// start carries a copy out.
func (w *Worker) start(c *tile.Copy) {
	to := w
	if c.Remote() && w.mesh != nil {
		to = w.mesh.workers[w.neighbour(c.Along, c.Device)]
	}
	copyPart(c, w.partAt(c.From, &w.Frame), to.partAt(c.To, &w.Frame))
	if w.mesh != nil {
		w.mesh.add(to.device, w.counter(c.Arrived), c.To.Bytes())
		if c.Remote() {
			w.mesh.add(w.device, w.counter(c.Sent), c.To.Bytes())
		}
	}
}

// box is a box of elements of an array in memory.
type box struct {
	data    []byte
	lo, hi  []int
	strides []int
}

// partAt is a part of this worker's memory, in the program that env is at.
func (w *Worker) partAt(p tile.Part, env tile.Env) box {
	i := w.Plan.Number(p.Ref)
	b := box{data: w.Data[i], strides: w.Plan.Refs[i].Strides}
	if b.lo, b.hi = p.Box(env); b.strides == nil {
		b.strides = make([]int, len(p.Ref.Array))
		n := 1
		for d := len(b.strides) - 1; d >= 0; d-- {
			b.strides[d], n = n, n*p.Ref.Array[d]
		}
	}
	return b
}

// rows yields where each row of the box, along the last dimension, begins.
func (b box) rows(yield func(int)) {
	var at func(d, off int)
	at = func(d, off int) {
		if d >= len(b.lo)-1 {
			if d >= 0 && d < len(b.lo) {
				off += b.lo[d] * b.strides[d]
			}
			yield(off)
			return
		}
		for i := b.lo[d]; i < b.hi[d]; i++ {
			at(d+1, off+i*b.strides[d])
		}
	}
	at(0, 0)
}

func copyPart(c *tile.Copy, from, to box) {
	var starts []int
	from.rows(func(off int) { starts = append(starts, off) })
	n := 1
	if rank := len(from.lo); rank > 0 {
		n = from.hi[rank-1] - from.lo[rank-1]
	}
	d := c.From.Ref.Dtype
	size := int(d.Bytes(int64(n)))
	i := 0
	to.rows(func(off int) {
		copy(to.data[d.Bytes(int64(off)):][:size], from.data[d.Bytes(int64(starts[i])):][:size])
		i++
	})
}
