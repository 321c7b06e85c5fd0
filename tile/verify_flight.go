package tile

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"matladder/internal/each"
	"matladder/tile/internal/inflight"
)

// maxFollowed is how many programs of a grid, over all devices, flights follows: from the
// first on, in order.
const maxFollowed = 1 << 14

// maxStatements is how many statements of these are followed, and maxClock how large all
// clocks together may be: of meshes that are larger no copies are followed here. That a
// program is right on a few devices says much of many.
const (
	maxStatements = 1 << 20
	maxClock      = 1 << 17
)

// flights follows the copies of all devices through the grid: each is waited for once, where
// it is counted, before anything touches what it reads or writes, and before the grid ends.
// Of a grid that is longer than maxFollowed the end is left to package interp, and so is what
// a table decides.
func flights(v *verifier) {
	p := v.program
	if len(p.Semaphores) == 0 || !v.decided() {
		return
	}
	slots := 1 + each.Sum(p.Semaphores, func(s *Semaphore) int { return s.Slots })
	devices := p.Devices()
	if devices*devices > maxClock/slots {
		return
	}
	ahead := each.Upto(devices, func(d int) int { return d })
	orders := [][]int{ahead}
	if devices > 1 { // one runs as far ahead of the others as it can, then the other
		back := slices.Clone(ahead)
		slices.Reverse(back)
		orders = append(orders, back)
	}
	for _, order := range orders {
		f := &follower{Flight: NewFlight(p), left: maxFollowed, stmts: maxStatements}
		if err := f.run(order); err != nil {
			v.errorf(err.Pos, "%s", err.Msg)
			return
		}
	}
}

// decided reports whether which copies happen follows from the program alone.
func (v *verifier) decided() bool {
	if slices.ContainsFunc(v.program.Grid, func(a *Axis) bool { return a.Bound != nil }) {
		return false
	}
	for _, s := range v.sites {
		places := s.places()
		if len(places) > 0 && (!TableFree(Compared(s.conds...)...) || slices.ContainsFunc(places, func(p place) bool { return !TableFree(p.at) })) {
			return false
		}
	}
	return true
}

// Flight is what a device does about copies, told to the detector of races: Verify and
// package interp both tell it.
type Flight struct {
	*inflight.State
	program *Program
	buffers map[*Ref]int
	slots   map[*Semaphore]int
	reads   map[*Stmt][]Read // of refs that it follows
}

// NewFlight is the state before any device begins p.
func NewFlight(p *Program) *Flight {
	f := &Flight{program: p, buffers: map[*Ref]int{}, slots: map[*Semaphore]int{}, reads: map[*Stmt][]Read{}}
	var names, slots []string
	for _, r := range p.Copied() {
		if r.Kind == In {
			continue // nobody writes it
		}
		f.buffers[r] = len(names)
		names = append(names, r.Name)
	}
	f.buffers[nil] = len(names)
	names = append(names, "")
	for _, s := range p.Semaphores {
		f.slots[s] = len(slots)
		for i := range s.Slots {
			slots = append(slots, fmt.Sprintf("%s[%d]", s.Name, i))
		}
	}
	f.State = inflight.New(p.Devices(), names, slots)
	return f
}

// follows reports whether what statements do to r matters: copies are from or to it.
func (f *Flight) follows(r *Ref) bool {
	_, ok := f.buffers[r]
	return ok && r != nil
}

func (f *Flight) region(p Part, env Env) inflight.Region {
	n, ok := f.buffers[p.Ref]
	if !ok {
		return inflight.Region{Buffer: f.buffers[nil]} // an input: never at odds
	}
	lo, hi := p.Box(env)
	return inflight.Region{Buffer: n, Lo: lo, Hi: hi}
}

func (f *Flight) slot(s Slot, env Env) int { return f.slots[s.Semaphore] + Eval(s.Index, env) }

// A Turn is one device on its way through the grid: it goes on until it waits for another.
type Turn struct {
	Device int
	Env    Env          // of the statement at hand
	Err    func() error // of evaluating in it, which comes before any other; may be nil

	flight *Flight // nil of a program without semaphores
	resume func() (struct{}, bool)
	pause  func() bool // lets other devices go on; false if none will ever again
	events int         // that others may have waited for
	waits  *Stmt       // that it is blocked at
	err    error
}

// errStopped ends a device when another has made a mistake.
var errStopped = errors.New("stopped")

// Turns runs devices in turns until all have ended, each by run. Each round has an order of its
// own. The error is the first of run's, or that of a statement that waits for ever.
func (f *Flight) Turns(devices int, order func() []int, run func(*Turn) error) error {
	turns := make([]*Turn, devices)
	for d := range turns {
		t := &Turn{Device: d, flight: f}
		var stop func()
		t.resume, stop = iter.Pull(func(yield func(struct{}) bool) {
			t.pause = func() bool { return yield(struct{}{}) }
			t.err = run(t)
		})
		defer stop()
		turns[d] = t
	}
	for left := devices; left > 0; {
		moved := false
		for _, d := range order() {
			t := turns[d]
			if t.resume == nil {
				continue
			}
			before := t.events
			if _, more := t.resume(); !more {
				t.resume, left, moved = nil, left-1, true
			}
			if t.err != nil {
				return t.err
			}
			moved = moved || t.events > before
		}
		if i := slices.IndexFunc(turns, func(t *Turn) bool { return t.resume != nil }); i >= 0 && !moved {
			return f.stuck(turns[i].waits, turns[i].Env)
		}
	}
	return nil
}

// Values tells of a statement that writes a value: of what it reads and writes of refs that the
// Flight follows.
func (t *Turn) Values(s *Stmt) error {
	f := t.flight
	if f == nil {
		return nil
	}
	t.events++
	reads, known := f.reads[s]
	if !known {
		reads = each.That(Reads(s.Value), func(r Read) bool { return f.follows(r.Ref) })
		f.reads[s] = reads
	}
	for _, r := range reads {
		if err := t.access(s, r.Ref, false, r.Box); err != nil {
			return err
		}
	}
	if !f.follows(s.Ref) {
		return nil
	}
	return t.access(s, s.Ref, true, s.Rows)
}

func (t *Turn) access(s *Stmt, r *Ref, write bool, box func(Env) (lo, hi []int)) error {
	lo, hi := box(t.Env)
	return t.flight.error(t.flight.Access(t.Device, inflight.Region{Buffer: t.flight.buffers[r], Lo: lo, Hi: hi}, write, s.Pos))
}

// Do tells of a statement about copies or signals, once nothing blocks it any more. For a Start
// or a Wait it returns the copy that began or arrived.
func (t *Turn) Do(s *Stmt) (*inflight.Copy, error) {
	for {
		c, blocked, fault := t.flight.do(t.Device, s, t.Env)
		if t.Err != nil {
			if err := t.Err(); err != nil {
				return nil, err
			}
		}
		if fault != nil || !blocked {
			t.events++
			return c, t.flight.error(fault)
		}
		if t.waits = s; !t.pause() {
			return nil, errStopped
		}
	}
}

func (f *Flight) do(device int, s *Stmt, env Env) (c *inflight.Copy, blocked bool, fault *inflight.Fault) {
	switch s.Kind {
	case Start:
		x := s.Copy
		c = &inflight.Copy{From: f.region(x.From, env), To: f.region(x.To, env), Device: device, Target: device, Bytes: x.To.Bytes(), Pos: s.Pos}
		sent := -1
		if x.Remote() {
			c.Target, sent = f.program.DeviceAt(device, x.Along, Eval(x.Device, env)), f.slot(x.Sent, env)
		}
		return c, false, f.State.Start(c, f.slot(x.Arrived, env), sent)
	case Wait:
		c, fault = f.State.Wait(device, f.slot(s.Copy.Arrived, env), false, f.region(s.Copy.To, env), s.Copy.To.Bytes(), s.Pos)
		return c, c == nil, fault
	case WaitSent:
		c, fault = f.State.Wait(device, f.slot(s.Copy.Sent, env), true, f.region(s.Copy.From, env), s.Copy.To.Bytes(), s.Pos)
		return c, c == nil, fault
	case Signal:
		to := s.Signal.To
		return nil, false, f.State.Signal(device, f.program.DeviceAt(device, s.Signal.Along, Eval(s.Signal.Device, env)), f.slot(to, env), to.Semaphore.Kind == CountsArrival, s.Pos)
	case Await:
		return nil, !f.State.Await(device, f.slot(s.Slot, env), s.Count), nil
	}
	return nil, false, nil
}

// stuck is the error of a statement that no device will ever let go on.
func (f *Flight) stuck(s *Stmt, env Env) error {
	at := s.Slot
	switch s.Kind {
	case Wait:
		at = s.Copy.Arrived
	case WaitSent:
		at = s.Copy.Sent
	}
	return f.error(f.Missing(f.slot(at, env), s.Pos))
}

// Ended is the error of what is left when a device has nothing more to do.
func (f *Flight) Ended(device int) error { return f.error(f.End(device)) }

func (f *Flight) error(fault *inflight.Fault) error {
	if fault == nil {
		return nil
	}
	pos, _ := fault.Pos.(Pos)
	return &Error{pos, f.program.Name, fault.Msg}
}

// follower runs the grids of all devices without values.
type follower struct {
	*Flight
	left  int // programs to follow
	stmts int // statements to follow
}

// errFar ends what is followed: some devices are further than others.
var errFar = errors.New("followed far enough")

// run lets each device go as far as it can, in that order, and again until all are done.
func (f *follower) run(order []int) *Error {
	err := f.Turns(len(order), func() []int { return order }, func(t *Turn) error {
		d := &device{follower: f, turn: t, loops: map[*Axis]int{}, coordinates: f.program.Coordinates(t.Device)}
		t.Env = d
		return d.grid()
	})
	for d := 0; d < len(order) && err == nil; d++ {
		err = f.Ended(d)
	}
	wrong, _ := err.(*Error)
	return wrong
}

// device is one of them on its way through the grid.
type device struct {
	*follower
	turn        *Turn
	coordinates []int
	at          *Point
	loops       map[*Axis]int
}

// ProgramID makes device an Env.
func (d *device) ProgramID(a *Axis) int {
	switch {
	case a.Mesh:
		return d.coordinates[slices.Index(d.program.Mesh, a)]
	case a.Loop:
		return d.loops[a]
	}
	return d.at.ProgramID(a)
}

// TableValue makes device an Env: conditions that look up tables are about no copies.
func (d *device) TableValue(*Ref, int) int { return 0 }

func (d *device) grid() error {
	place := -1
	for at := range Points(d.program.Grid) {
		if d.left--; d.left < 0 {
			return errFar
		}
		d.at = at
		if now := at.parallelPlace(); now != place {
			if place >= 0 {
				if err := d.Ended(d.turn.Device); err != nil {
					return err
				}
			}
			place = now
		}
		if err := d.body(d.program.Body); err != nil {
			return err
		}
	}
	return nil
}

// body follows statements.
func (d *device) body(body []*Stmt) error {
	for _, s := range body {
		if d.stmts--; d.stmts <= 0 {
			return errFar
		}
		var err error
		switch s.Kind {
		case When:
			if !TableFree(Compared(s.Cond)...) || EvalCond(s.Cond, d) {
				err = d.body(s.Body)
			}
		case Loop:
			for i := 0; i < s.Axis.Size && len(s.Body) > 0 && err == nil; i++ {
				d.loops[s.Axis] = i
				d.stmts--
				err = d.body(s.Body)
			}
		case Fill, Store, Accumulate:
			err = d.turn.Values(s)
		default:
			_, err = d.turn.Do(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Read is what an expression reads of scratch: all of it or, of a slice, what of it along one
// dimension.
type Read struct {
	Ref   *Ref
	Slice *Expr // nil for all
}

// Reads lists what e reads of scratch, where it is not windows.
func Reads(e *Expr) []Read {
	var all []Read
	sliced := map[*Expr]int{}
	uses := map[*Expr]int{}
	WalkExpr(e, func(x *Expr) {
		for _, a := range x.Args {
			uses[a]++
			if x.Op == OpSlice && a.Op == OpLoad {
				sliced[a]++
			}
		}
		if x.Op == OpSlice && x.Args[0].Op == OpLoad {
			all = append(all, Read{x.Args[0].Ref, x})
		}
	})
	WalkExpr(e, func(x *Expr) {
		if x.Op == OpLoad && (sliced[x] == 0 || uses[x] > sliced[x]) {
			all = append(all, Read{x.Ref, nil})
		}
	})
	return all
}

// Box is what a Read is of.
func (r Read) Box(env Env) (lo, hi []int) {
	lo, hi = make([]int, len(r.Ref.Array)), slices.Clone(r.Ref.Array)
	if r.Slice != nil {
		d := r.Slice.Dim
		lo[d] = Eval(r.Slice.Index, env)
		hi[d] = lo[d] + r.Slice.Shape[d]
	}
	return lo, hi
}

// Rows is what a Fill, Store or Accumulate writes of scratch.
func (s *Stmt) Rows(env Env) (lo, hi []int) {
	lo, hi = make([]int, len(s.Ref.Array)), slices.Clone(s.Ref.Array)
	if s.IsPart() {
		lo[0] = min(max(Eval(s.From, env), 0), hi[0])
		hi[0] = min(max(Eval(s.To, env), lo[0]), hi[0])
	}
	return lo, hi
}
