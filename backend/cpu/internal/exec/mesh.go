package exec

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"matladder/backend"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/each"
	"matladder/tile"
)

// mesh is the devices that run one program: a worker each, with memory of its own. They take
// turns: each goes on until it waits for another.
type mesh struct {
	workers []*Worker
	counts  [][]int64 // by device and slot of the program's semaphores
	moves   int       // times that something was counted or taken: of devices that go on
}

// errStuck ends devices that wait for each other.
var errStuck = errors.New("all devices wait for each other")

func newMesh(p *tile.Program) *mesh {
	m := &mesh{}
	slots := each.Sum(p.Semaphores, func(s *tile.Semaphore) int { return s.Slots })
	for range p.Devices() {
		m.counts = append(m.counts, make([]int64, slots))
	}
	return m
}

// add counts, or takes what was counted.
func (m *mesh) add(device, slot int, n int64) {
	m.counts[device][slot] += n
	m.moves++
}

// RunMesh runs executables of the same programs once, each as one device of their mesh, in
// the order of their numbers. They are loaded, and of one worker each. Copies between devices
// are copies in memory.
func RunMesh(ctx context.Context, programs []*tile.Program, devices []*Executable) error {
	meshes, errs := each.Of(programs, newMesh), make([]error, len(devices))
	var turns []func() (struct{}, bool) // of devices that are not done
	var ends []func()
	for d, e := range devices {
		e.Pool.stopped.Store(false)
		turn, end := iter.Pull(func(yield func(struct{}) bool) {
			for i := range programs {
				e.Runs[i].Workers[0].wait = func() bool { return yield(struct{}{}) }
			}
			_, errs[d] = e.Launch(1, func() (backend.Sample, error) { return backend.Sample{}, e.launch() })
		})
		turns, ends = append(turns, turn), append(ends, end)
		for i, p := range programs {
			w := e.Runs[i].Workers[0]
			w.mesh, w.device, w.Coordinates = meshes[i], d, p.Coordinates(d)
			meshes[i].workers = append(meshes[i].workers, w)
		}
	}
	defer context.AfterFunc(ctx, func() {
		for _, e := range devices {
			e.Pool.stopped.Store(true)
		}
	})()
	for moved := true; moved && ctx.Err() == nil; {
		left, before := len(turns), each.Sum(meshes, func(m *mesh) int { return m.moves })
		turns = slices.DeleteFunc(turns, func(turn func() (struct{}, bool)) bool {
			_, waits := turn()
			return !waits
		})
		moved = len(turns) < left || each.Sum(meshes, func(m *mesh) int { return m.moves }) > before
	}
	for _, end := range ends { // of those that wait for what never comes
		end()
	}
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
	w.Taping = false
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

// await waits until a counter of this device is n, and takes that; a device alone has nothing to
// wait for.
func (w *Worker) await(s tile.Slot, n int64) {
	if w.mesh == nil {
		return
	}
	slot := w.counter(s)
	for w.mesh.counts[w.device][slot] < n {
		if !w.wait() {
			panic(plan.ProgramError{Err: errStuck})
		}
	}
	w.mesh.add(w.device, slot, -n)
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
		b.strides = plan.Strides(p.Ref.Array)
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
