package interp

import (
	"math/rand/v2"

	"matladder/internal/each"
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
	random := rand.New(rand.NewPCG(w.seed, 1))
	inOrder := each.Upto(len(w.machines), func(d int) int { return d })
	err := w.flight.Turns(len(w.machines), func() []int {
		if w.seed != 0 {
			return random.Perm(len(w.machines))
		}
		return inOrder
	}, func(t *tile.Turn) error {
		m := w.machines[t.Device]
		m.turn, t.Env, t.Err = t, m, func() error { m.checkContext(); return m.err }
		return m.run(order(w.program.Grid, w.seed))
	})
	for d := 0; d < len(w.machines) && err == nil; d++ {
		if w.flight != nil {
			err = w.flight.Ended(d)
		}
		if err == nil {
			err = w.machines[d].written()
		}
	}
	return err
}

// copying runs a statement about copies or signals.
func (m *machine) copying(s *tile.Stmt) {
	if m.world.flight == nil {
		m.fail("%s: the program has no semaphores", s.Kind)
		return
	}
	if m.checkContext(); m.err != nil {
		return
	}
	c, err := m.turn.Do(s)
	if m.err = err; err == nil {
		m.move(s, c)
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
	if err := m.turn.Values(s); m.err == nil {
		m.err = err
	}
}
