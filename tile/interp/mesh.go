package interp

import (
	"iter"
	"math/rand/v2"

	"matladder/tile"
	"matladder/tile/internal/inflight"
)

// world is the devices that run one program, in turns: each goes on until it waits for another.
type world struct {
	program  *tile.Program
	machines []*machine
	flight   *tile.Flight // nil of a program that starts no copies
	early    bool
	seed     uint64
	pending  map[*inflight.Copy]func() // copies that have not happened yet
}

// run runs the grid on all devices. The order of turns is that of their numbers or, with a
// seed, a random one each time.
func (w *world) run() error {
	w.pending = map[*inflight.Copy]func(){}
	if len(w.machines) == 1 && w.flight == nil {
		m := w.machines[0]
		if err := m.run(order(w.program.Grid, w.seed)); err != nil {
			return err
		}
		return m.written()
	}
	turns := make([]func() (struct{}, bool), len(w.machines))
	for d, m := range w.machines {
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			m.pause = func() bool { return yield(struct{}{}) }
			m.run(order(w.program.Grid, w.seed))
		})
		defer stop()
		turns[d] = next
	}
	if err := w.turns(turns); err != nil {
		return err
	}
	for _, m := range w.machines {
		if w.flight != nil {
			if err := w.flight.Ended(m.device); err != nil {
				return err
			}
		}
		if err := m.written(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) turns(turns []func() (struct{}, bool)) error {
	random := rand.New(rand.NewPCG(w.seed, 1))
	left := len(turns)
	for left > 0 {
		turn := make([]int, len(turns))
		for d := range turn {
			turn[d] = d
		}
		if w.seed != 0 {
			random.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
		}
		moved := false
		for _, d := range turn {
			m := w.machines[d]
			if turns[d] == nil {
				continue
			}
			before := m.events
			if _, more := turns[d](); !more {
				turns[d], left, moved = nil, left-1, true
			}
			if m.err != nil {
				return m.err
			}
			moved = moved || m.events > before
		}
		if !moved {
			for _, m := range w.machines {
				if m.waits != nil {
					return w.flight.Stuck(m.waits, m)
				}
			}
		}
	}
	return nil
}

// copying runs a statement about copies or signals.
func (m *machine) copying(s *tile.Stmt) {
	if m.flight == nil {
		m.fail("%s: the program has no semaphores", s.Kind)
		return
	}
	for m.err == nil {
		m.checkContext()
		c, blocked, err := m.flight.Do(m.device, s, m)
		switch {
		case m.err != nil:
			return
		case err != nil:
			m.err = err
			return
		case !blocked:
			m.events++
			m.waits = nil
			m.move(s, c)
			return
		}
		m.waits = s
		if !m.pause() {
			m.checkContext()
			return
		}
	}
}

// move lets a copy happen: as early, or as late, as it may.
func (m *machine) move(s *tile.Stmt, c *inflight.Copy) {
	if c == nil {
		return
	}
	w := m.world
	if s.Kind != tile.Start {
		if happen := w.pending[c]; happen != nil {
			delete(w.pending, c)
			happen()
		}
		return
	}
	from, to := m.byRef[s.Copy.From.Ref], w.machines[c.Target].byRef[s.Copy.To.Ref]
	flo, fhi := s.Copy.From.Box(m)
	tlo, thi := s.Copy.To.Box(m)
	if !from.holds(fhi) || !to.holds(thi) {
		m.fail("%s: %s%s: blocks outside the array", s.Kind, s.Copy, m.where())
		return
	}
	happen := func() {
		source := from.elements(flo, fhi)
		for i, at := range to.elements(tlo, thi) {
			st := from.array.at(source[i])
			if st != 0 && to.ref.Kind == tile.Out {
				m.failAt(s.Pos, "copies %s, which was never written or is padding, to %s", from.element(source[i]), to.element(at))
				return
			}
			to.array.val[at] = from.array.val[source[i]]
			to.array.state[at] = st
		}
	}
	if w.early {
		happen()
		return
	}
	w.pending[c] = happen
}

// holds reports whether a box up to hi is inside the array.
func (v *view) holds(hi []int) bool {
	for d, n := range hi {
		if n > v.ref.Array[d] {
			return false
		}
	}
	return true
}

// elements lists those of a box, row-major.
func (v *view) elements(lo, hi []int) []int {
	list := []int{0}
	for d := range lo {
		var next []int
		for _, at := range list {
			for i := lo[d]; i < hi[d]; i++ {
				next = append(next, at+i*v.strides[d])
			}
		}
		list = next
	}
	return list
}

// follow tells what a statement reads and writes of refs that copies are from or to.
func (m *machine) follow(s *tile.Stmt) {
	if m.flight == nil {
		return
	}
	if err := m.flight.Values(m.device, s, m); m.err == nil {
		m.err = err
	}
}
