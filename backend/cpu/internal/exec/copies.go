package exec

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// start carries a copy out where it is started: a program that Verify accepts does not tell
// that from later. A device alone sends to itself, and has nothing to wait for.
func (w *Worker) start(c *tile.Copy) {
	copyPart(c, w.partAt(c.From), w.partAt(c.To))
}

// box is a box of elements of an array in memory.
type box struct {
	data    []byte
	lo, hi  []int
	strides []int
}

// partAt is a part of this worker's memory, in the current program.
func (w *Worker) partAt(p tile.Part) box {
	i := w.Plan.Number(p.Ref)
	b := box{data: w.Data[i], strides: w.Plan.Refs[i].Strides}
	if b.lo, b.hi = p.Box(&w.Frame); b.strides == nil {
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
