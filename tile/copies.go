package tile

import (
	"slices"

	"matladder/internal/each"
)

// SemaphoreKind is what a semaphore counts.
type SemaphoreKind uint8

// The kinds of semaphore.
const (
	CountsBytes   SemaphoreKind = iota // of copies
	CountsSignals                      // of statements, on this device or another
	CountsArrival                      // signals of devices that have begun this program: there before any begins
)

func (k SemaphoreKind) String() string { return [...]string{"bytes", "signals", "barrier"}[k] }

// Semaphore is a row of counters, in which copies and signals tell that they are done.
// All are 0 when the grid begins and have to be when it ends.
type Semaphore struct {
	Name  string
	Kind  SemaphoreKind
	Slots int
	Pos   Pos
}

// At is one counter.
func (s *Semaphore) At(x IndexExpr) Slot { return Slot{s, x} }

// Slot is one counter of a semaphore.
type Slot struct {
	Semaphore *Semaphore
	Index     IndexExpr
}

// Part is a block of a ref that copies bring from place to place: of a Main ref, or of scratch.
// Its block spec counts in blocks, as index maps do, and its blocks lie inside the array.
type Part struct {
	Ref *Ref
	BlockSpec
}

// Part is a block of r, for a copy.
func (r *Ref) Part(spec BlockSpec) Part { return Part{r, spec} }

// Shape returns the shape of what is copied: the block without its squeezed dimensions.
func (p Part) Shape() []int { return unsqueezed(p.BlockSpec.Shape) }

// Bytes returns those of one block.
func (p Part) Bytes() int64 { return p.Ref.Dtype.Bytes(Elements(p.Shape())) }

// Box returns the elements of the ref that the block has in the program of env: from lo up to
// hi, not included.
func (p Part) Box(env Env) (lo, hi []int) {
	lo, hi = make([]int, len(p.Index)), make([]int, len(p.Index))
	for d, x := range p.Index {
		size := max(p.BlockSpec.Shape[d], 1) // Squeezed is one element
		lo[d] = Eval(x, env) * size
		hi[d] = lo[d] + size
	}
	return lo, hi
}

// Copy moves a block while the program goes on. Start begins it; Wait, in the program that it
// goes to, returns when it has arrived. A copy to another device is also waited for by the
// device that it is from, which may change what it copied after WaitSent.
type Copy struct {
	From, To Part
	Arrived  Slot // counts the bytes at To, on the device that has it

	// Of a copy to another device. All devices run the same program: what arrives here is
	// what a neighbour sent, so that Wait(c) waits for the copy to this device.
	Sent   Slot      // counts the bytes that have left From
	Along  *Axis     // of the mesh
	Device IndexExpr // coordinate along that axis of the device that To is of; others are as here
}

// Remote reports whether c goes to another device.
func (c *Copy) Remote() bool { return c.Along != nil }

// NewCopy is a copy on one device.
func NewCopy(from, to Part, arrived Slot) *Copy { return &Copy{From: from, To: to, Arrived: arrived} }

// ToDevice is c to another device along an axis of the mesh; sent counts what has left.
func (c *Copy) ToDevice(along *Axis, device IndexExpr, sent Slot) *Copy {
	to := *c
	to.Along, to.Device, to.Sent = along, device, sent
	return &to
}

// SignalTo adds one to a counter of another device.
type SignalTo struct {
	To     Slot
	Along  *Axis     // of the mesh
	Device IndexExpr // coordinate along it
}

// HBM, as the block spec of In or Out, leaves an array in main memory: the body cannot
// read or write it, but copy parts of it.
var HBM = BlockSpec{main: true}

// MainScratch declares memory of a device beside its fast memory: as large as one likes, and
// for copies alone.
func (t *Builder) MainScratch(name string, d Dtype, dims ...int) *Ref {
	return t.ref(&Ref{Name: name, Kind: Scratch, Main: true, Dtype: d, Array: dims, Block: dims})
}

// Semaphores declares a row of counters of the bytes that copies move.
func (t *Builder) Semaphores(name string, slots int) *Semaphore {
	return t.semaphore(&Semaphore{Name: name, Kind: CountsBytes, Slots: slots})
}

// Signals declares a row of counters of signals.
func (t *Builder) Signals(name string, slots int) *Semaphore {
	return t.semaphore(&Semaphore{Name: name, Kind: CountsSignals, Slots: slots})
}

// Barrier declares the counter by which devices tell others that they have begun: no copy may
// go to a device that has not. A program has one at most.
func (t *Builder) Barrier(name string) *Semaphore {
	return t.semaphore(&Semaphore{Name: name, Kind: CountsArrival, Slots: 1})
}

func (t *Builder) semaphore(s *Semaphore) *Semaphore {
	s.Pos = callerPos()
	t.program.Semaphores = append(t.program.Semaphores, s)
	return s
}

// MeshAxis adds an axis of devices: all of them run the program, each on arrays of its own.
// As an expression it is the coordinate of the device.
func (t *Builder) MeshAxis(name string, devices int) *Axis {
	a := &Axis{Name: name, Size: devices, Semantics: Parallel, Mesh: true, pos: callerPos()}
	t.program.Mesh = append(t.program.Mesh, a)
	return a
}

// Start begins a copy.
func (t *Builder) Start(c *Copy) { t.add(&Stmt{Kind: Start, Copy: c}) }

// Wait waits until a copy to this device has arrived.
func (t *Builder) Wait(c *Copy) { t.add(&Stmt{Kind: Wait, Copy: c}) }

// WaitSent waits until a copy to another device has left this one.
func (t *Builder) WaitSent(c *Copy) { t.add(&Stmt{Kind: WaitSent, Copy: c}) }

// Signal adds one to a counter of the device at a coordinate along an axis of the mesh.
func (t *Builder) Signal(to Slot, along *Axis, device IndexExpr) {
	t.add(&Stmt{Kind: Signal, Signal: &SignalTo{to, along, device}})
}

// Await waits until a counter of signals is n at least, and takes n from it.
func (t *Builder) Await(slot Slot, n int) { t.add(&Stmt{Kind: Await, Slot: slot, Count: n}) }

func (t *Builder) add(s *Stmt) {
	s.Pos = callerPos()
	*t.body = append(*t.body, s)
}

// Devices returns how many devices run the program: 1 without a mesh.
func (p *Program) Devices() int { return int(Elements(sizes(p.Mesh))) }

// Coordinates are those of a device along the axes of the mesh, the last one fastest.
func (p *Program) Coordinates(device int) []int { return unravel(device, sizes(p.Mesh)) }

func sizes(axes []*Axis) []int {
	n := each.Of(axes, func(a *Axis) int { return a.Size })
	return n
}

// DeviceAt is the number of the device at a coordinate along an axis of the mesh, otherwise
// where device is.
func (p *Program) DeviceAt(device int, along *Axis, at int) int {
	n := 0
	for i, c := range p.Coordinates(device) {
		if p.Mesh[i] == along {
			c = at
		}
		n = n*p.Mesh[i].Size + c
	}
	return n
}

// CopiesItself reports whether the program moves data by statements of its own, which not
// every machine can.
func (p *Program) CopiesItself() bool {
	return len(p.Mesh) > 0 || len(p.Semaphores) > 0 || slices.ContainsFunc(p.Refs, func(r *Ref) bool { return r.Main })
}

// Copied are the refs that copies are from or to.
func (p *Program) Copied() []*Ref {
	var refs []*Ref
	p.Walk(func(s *Stmt) {
		if s.Copy == nil {
			return
		}
		for _, r := range []*Ref{s.Copy.From.Ref, s.Copy.To.Ref} {
			if r != nil {
				refs = each.With(refs, r)
			}
		}
	})
	return refs
}
