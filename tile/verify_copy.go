package tile

import "slices"

// meshAxes: axes of devices have a size and a name, and devices go through the grid alike.
func meshAxes(v *verifier) {
	devices := 1
	for i, a := range v.program.Mesh {
		if a == nil {
			v.errorf(Pos{}, "mesh: axis %d is nil", i)
			continue
		}
		v.axis(a, slices.Concat(v.program.Grid, v.program.Mesh[:i]))
		if !a.Mesh || a.Loop || a.Bound != nil {
			v.errorf(a.pos, "axis %s: it is no axis of a mesh", a.Name)
		}
		if devices *= min(max(a.Size, 1), maxDevices+1); devices > maxDevices {
			v.errorf(a.pos, "axis %s: a mesh has %d devices at most", a.Name, maxDevices)
			return
		}
	}
	for _, a := range v.program.Grid {
		if a != nil && a.Mesh {
			v.errorf(a.pos, "axis %s: an axis of the mesh is none of the grid", a.Name)
		} else if a != nil && devices > 1 && a.Semantics == Parallel && a.Size > 1 {
			v.errorf(a.pos, "axis %s: it is parallel, but devices of a mesh wait for each other: they go through a grid in one order, make it Arbitrary", a.Name)
		}
	}
}

// maxDevices is more than any pod has.
const maxDevices = 1 << 16

// semaphores have names and counters.
func semaphores(v *verifier) {
	barriers := 0
	for i, s := range v.program.Semaphores {
		if s == nil {
			v.errorf(Pos{}, "semaphore %d is nil", i)
			continue
		}
		if s.Name == "" {
			v.errorf(s.Pos, "a semaphore needs a name")
		}
		for _, t := range v.program.Semaphores[:i] {
			if t != nil && t.Name == s.Name {
				v.errorf(s.Pos, "semaphore %s: there is one of this name already", s.Name)
			}
		}
		for _, r := range v.program.Refs {
			if r != nil && r.Name == s.Name {
				v.errorf(s.Pos, "semaphore %s: there is a ref of this name already", s.Name)
			}
		}
		switch {
		case s.Kind > CountsArrival:
			v.errorf(s.Pos, "semaphore %s: no such kind", s.Name)
		case s.Slots < 1 || s.Slots > maxSlots:
			v.errorf(s.Pos, "semaphore %s: %d counters: want 1 … %d", s.Name, s.Slots, maxSlots)
		case s.Kind == CountsArrival && s.Slots != 1:
			v.errorf(s.Pos, "semaphore %s: a barrier is one counter", s.Name)
		}
		if s.Kind == CountsArrival {
			if barriers++; barriers > 1 {
				v.errorf(s.Pos, "semaphore %s: a program has one barrier at most", s.Name)
			}
		}
	}
}

// maxSlots is more than a device has counters.
const maxSlots = 1 << 10

// copy: parts of equal shape and dtype, and counters of bytes.
func (v *verifier) copy(s *Stmt, loops []*Axis) {
	c := s.Copy
	if !v.part(s, "from", c.From, loops) || !v.part(s, "to", c.To, loops) {
		return
	}
	from, to := c.From, c.To
	switch {
	case to.Ref.Kind == In:
		v.errorf(s.Pos, "%s: a copy to %s, which is an input", s.Kind, to.Ref.Name)
	case from.Ref.Dtype != to.Ref.Dtype:
		v.errorf(s.Pos, "%s: a copy from %s of %s to %s of %s: copies change no dtype", s.Kind, from.Ref.Name, from.Ref.Dtype, to.Ref.Name, to.Ref.Dtype)
	case !slices.Equal(from.Shape(), to.Shape()):
		v.errorf(s.Pos, "%s: a copy from [%s] of %s to [%s] of %s", s.Kind, blockString(from.BlockSpec.Shape), from.Ref.Name, blockString(to.BlockSpec.Shape), to.Ref.Name)
	}
	v.slot(s, c.Arrived, loops, CountsBytes)
	if !c.Remote() {
		if c.Device != nil || c.Sent != (Slot{}) {
			v.errorf(s.Pos, "%s: a copy to a device needs an axis of the mesh", s.Kind)
		} else if s.Kind == WaitSent {
			v.errorf(s.Pos, "wait_sent: %s is copied to no other device: wait for it", from.Ref.Name)
		}
		return
	}
	v.slot(s, c.Sent, loops, CountsBytes)
	v.device(s, c.Along, c.Device, loops)
}

func (v *verifier) part(s *Stmt, way string, p Part, loops []*Axis) bool {
	r := p.Ref
	before := len(v.errs)
	switch {
	case r == nil || !slices.Contains(v.program.Refs, r):
		v.errorf(s.Pos, "%s: %s: the ref is not of this program", s.Kind, way)
	case r.Kind != Scratch && !r.Main:
		v.errorf(s.Pos, "%s: %s %s: only what is in main memory or scratch is copied", s.Kind, way, r.Name)
	case len(p.BlockSpec.Shape) != len(r.Array) || len(p.Index) != len(r.Array):
		v.errorf(s.Pos, "%s: %s %s: the block has %d dimensions and %d indices, the array %d dimensions", s.Kind, way, r.Name, len(p.BlockSpec.Shape), len(p.Index), len(r.Array))
	}
	if p.Steps != nil {
		v.errorf(s.Pos, "%s: %s %s: copies bring blocks that lie side by side", s.Kind, way, r.Name)
	}
	if len(v.errs) > before {
		return false
	}
	for d, n := range p.BlockSpec.Shape {
		if msg := v.program.unusable(p.Index[d], loops); msg != "" {
			v.errorf(s.Pos, "%s: %s %s, dimension %d: %s", s.Kind, way, r.Name, d, msg)
		}
		if n < 1 && n != Squeezed {
			v.errorf(s.Pos, "%s: %s %s: block dimension %d has size %d", s.Kind, way, r.Name, d, n)
		} else if n = max(n, 1); r.Array[d]%n != 0 {
			v.errorf(s.Pos, "%s: %s %s: %d elements along dimension %d are no whole blocks of %d: copies bring no part of a block", s.Kind, way, r.Name, r.Array[d], d, n)
		}
	}
	return len(v.errs) == before
}

func (v *verifier) slot(s *Stmt, at Slot, loops []*Axis, kinds ...SemaphoreKind) {
	if at.Semaphore == nil || !slices.Contains(v.program.Semaphores, at.Semaphore) {
		v.errorf(s.Pos, "%s: the semaphore is not of this program", s.Kind)
		return
	}
	if !slices.Contains(kinds, at.Semaphore.Kind) {
		v.errorf(s.Pos, "%s: semaphore %s counts %s", s.Kind, at.Semaphore.Name, at.Semaphore.Kind)
	}
	if msg := v.program.unusable(at.Index, loops); msg != "" {
		v.errorf(s.Pos, "%s: counter of %s: %s", s.Kind, at.Semaphore.Name, msg)
	}
}

func (v *verifier) device(s *Stmt, along *Axis, at IndexExpr, loops []*Axis) {
	if !slices.Contains(v.program.Mesh, along) {
		v.errorf(s.Pos, "%s: the axis of devices is not of this program's mesh", s.Kind)
	} else if msg := v.program.unusable(at, loops); msg != "" {
		v.errorf(s.Pos, "%s: device along %s: %s", s.Kind, along.Name, msg)
	}
}

func (v *verifier) signal(s *Stmt, loops []*Axis) {
	v.slot(s, s.Signal.To, loops, CountsSignals, CountsArrival)
	v.device(s, s.Signal.Along, s.Signal.Device, loops)
}

func (v *verifier) await(s *Stmt, loops []*Axis) {
	v.slot(s, s.Slot, loops, CountsSignals, CountsArrival)
	if s.Count < 1 {
		v.errorf(s.Pos, "await: %d signals: want at least 1", s.Count)
	}
}

// copyBounds: copied blocks, counters and devices are there.
func copyBounds(v *verifier) {
	for _, s := range v.sites {
		for _, p := range s.places() {
			v.lookups(p.at, s.Pos, s)
			if msg := v.leaves(p.at, p.of-1, s); msg != "" {
				v.errorf(s.Pos, "%s: %s: %s, where there are 0 … %d", s.Kind, p.what, msg, p.of-1)
			}
		}
	}
}

// place is one of so many of something.
type place struct {
	what string
	at   IndexExpr
	of   int
}

// places are those that a statement about copies or signals names.
func (s *Stmt) places() (list []place) {
	add := func(what string, at IndexExpr, of int) { list = append(list, place{what, at, of}) }
	slot := func(at Slot) { add("counter of "+at.Semaphore.Name, at.Index, at.Semaphore.Slots) }
	device := func(along *Axis, at IndexExpr) { add("device along "+along.Name, at, along.Size) }
	if c := s.Copy; c != nil {
		for _, p := range []Part{c.From, c.To} {
			for d, x := range p.Index {
				add("block of "+p.Ref.Name+" along dimension "+Const(d).String(), x, p.Ref.Array[d]/max(p.BlockSpec.Shape[d], 1))
			}
		}
		slot(c.Arrived)
		if c.Remote() {
			slot(c.Sent)
			device(c.Along, c.Device)
		}
	}
	if x := s.Signal; x != nil {
		slot(x.To)
		device(x.Along, x.Device)
	}
	if s.Kind == Await {
		slot(s.Slot)
	}
	return list
}

// mainRefs: what is in main memory is copied, and by copies alone.
func mainRefs(v *verifier) {
	var copied []*Ref
	for _, s := range v.sites {
		if s.Copy != nil {
			copied = append(copied, s.Copy.From.Ref, s.Copy.To.Ref)
		}
	}
	for _, r := range v.program.Refs {
		switch {
		case r == nil || !r.Main:
		case r.Kind == Table:
			v.errorf(r.Pos, "%s: a table is not in main memory", r.Name)
		case r.Kind != Scratch && !slices.Equal(r.Block, r.Array):
			v.errorf(r.Pos, "%s: in main memory it is whole", r.Name)
		case !slices.Contains(copied, r):
			v.errorf(r.Pos, "%s: it stays in main memory, and nothing copies it", r.Name)
		}
	}
}

// copiedTo reports whether copies write r, so that what is in it is for copies to say.
func (v *verifier) copiedTo(r *Ref) bool {
	return slices.ContainsFunc(v.sites, func(s site) bool { return s.Copy != nil && s.Copy.To.Ref == r })
}
