package tile

import (
	"fmt"
	"iter"
	"slices"

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
	slots := 1
	for _, s := range p.Semaphores {
		slots += s.Slots
	}
	devices := p.Devices()
	if devices*devices > maxClock/slots {
		return
	}
	ahead := make([]int, devices)
	for d := range ahead {
		ahead[d] = d
	}
	orders := [][]int{ahead}
	if devices > 1 { // one runs as far ahead of the others as it can, then the other
		back := slices.Clone(ahead)
		slices.Reverse(back)
		orders = append(orders, back)
	}
	for _, order := range orders {
		f := newFollower(p)
		if fault := f.run(order); fault != nil {
			pos, _ := fault.Pos.(Pos)
			v.errorf(pos, "%s", fault.Msg)
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
}

// NewFlight is the state before any device begins p.
func NewFlight(p *Program) *Flight {
	f := &Flight{program: p, buffers: map[*Ref]int{}, slots: map[*Semaphore]int{}}
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

// Values tells of a statement that writes a value: of what it reads and writes of refs that the
// Flight follows.
func (f *Flight) Values(device int, s *Stmt, env Env) error {
	return f.error(f.values(device, s, Reads(s.Value), env))
}

func (f *Flight) values(device int, s *Stmt, reads []Read, env Env) (fault *inflight.Fault) {
	access := func(r *Ref, write bool, box func(Env) (lo, hi []int)) {
		if fault == nil && f.follows(r) {
			lo, hi := box(env)
			fault = f.Access(device, inflight.Region{Buffer: f.buffers[r], Lo: lo, Hi: hi}, write, s.Pos)
		}
	}
	for _, read := range reads {
		access(read.Ref, false, read.Box)
	}
	access(s.Ref, true, s.Rows)
	return fault
}

// Do tells of a statement about copies or signals; blocked says that the device has to wait
// and try again. For a Start or a Wait it returns the copy that began or arrived.
func (f *Flight) Do(device int, s *Stmt, env Env) (c *inflight.Copy, blocked bool, err error) {
	c, blocked, fault := f.do(device, s, env)
	return c, blocked, f.error(fault)
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

// Stuck is the error of a statement that no device will ever let go on.
func (f *Flight) Stuck(s *Stmt, env Env) error { return f.error(f.stuck(s, env)) }

func (f *Flight) stuck(s *Stmt, env Env) *inflight.Fault {
	at := s.Slot
	switch s.Kind {
	case Wait:
		at = s.Copy.Arrived
	case WaitSent:
		at = s.Copy.Sent
	}
	return f.Missing(f.slot(at, env), s.Pos)
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
	reads map[*Stmt][]Read
	fault *inflight.Fault
}

func newFollower(p *Program) *follower {
	f := &follower{Flight: NewFlight(p), left: maxFollowed, stmts: maxStatements, reads: map[*Stmt][]Read{}}
	p.Walk(func(s *Stmt) {
		if s.Value == nil {
			return
		}
		for _, r := range Reads(s.Value) {
			if f.follows(r.Ref) {
				f.reads[s] = append(f.reads[s], r)
			}
		}
	})
	return f
}

// run lets each device go as far as it can, in that order, and again until all are done.
func (f *follower) run(order []int) *inflight.Fault {
	devices := make([]*device, len(order))
	for d := range devices {
		at := &device{follower: f, number: d, loops: map[*Axis]int{}, coordinates: f.program.Coordinates(d)}
		at.next, at.stop = iter.Pull(at.grid)
		defer at.stop()
		devices[d] = at
	}
	for running := len(order); running > 0; {
		moved := false
		for _, d := range order {
			at := devices[d]
			if at.done {
				continue
			}
			before := at.events
			if _, more := at.next(); !more {
				at.done, running, moved = true, running-1, true
			}
			if f.fault != nil {
				return f.fault
			}
			moved = moved || at.events > before
		}
		if f.left <= 0 {
			return nil // some are further than others
		}
		if !moved {
			for _, d := range order {
				if at := devices[d]; !at.done {
					return f.stuck(at.waits, at)
				}
			}
		}
	}
	if f.left > 0 {
		for d := range devices {
			if fault := f.End(d); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// device is one of them on its way through the grid.
type device struct {
	*follower
	number      int
	coordinates []int
	at          *Point
	loops       map[*Axis]int
	events      int
	waits       *Stmt // that it is blocked at
	done        bool
	next        func() (struct{}, bool)
	stop        func()
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

func (d *device) grid(yield func(struct{}) bool) {
	place := -1
	for at := range Points(d.program.Grid) {
		if d.left <= 0 {
			return
		}
		d.left--
		d.at = at
		if now := at.parallelPlace(); now != place {
			if place >= 0 {
				if d.fault = d.End(d.number); d.fault != nil {
					return
				}
			}
			place = now
		}
		if !d.body(d.program.Body, yield) {
			return
		}
	}
}

// body follows statements; false is the end.
func (d *device) body(body []*Stmt, yield func(struct{}) bool) bool {
	for _, s := range body {
		if d.stmts--; d.stmts <= 0 {
			d.left = 0
			return false
		}
		switch s.Kind {
		case When:
			if TableFree(Compared(s.Cond)...) && !EvalCond(s.Cond, d) {
				continue
			}
			if !d.body(s.Body, yield) {
				return false
			}
		case Loop:
			for i := range s.Axis.Size {
				d.loops[s.Axis] = i
				if d.stmts--; len(s.Body) == 0 || d.stmts <= 0 {
					break
				}
				if !d.body(s.Body, yield) {
					return false
				}
			}
		case Fill, Store, Accumulate:
			d.events++
			if d.fault = d.values(d.number, s, d.reads[s], d); d.fault != nil {
				return false
			}
		default:
			for {
				_, blocked, fault := d.do(d.number, s, d)
				if fault != nil {
					d.fault = fault
					return false
				}
				if !blocked {
					break
				}
				d.waits = s
				if !yield(struct{}{}) {
					return false
				}
			}
			d.events++
		}
	}
	return true
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
