package exec

import (
	"matladder/tile"
)

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
