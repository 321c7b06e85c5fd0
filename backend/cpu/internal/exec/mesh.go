package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"matladder/backend"
	"matladder/backend/cpu/internal/plan"
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
	slots := 0
	for _, s := range p.Semaphores {
		slots += s.Slots
	}
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
