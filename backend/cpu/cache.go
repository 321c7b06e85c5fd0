package cpu

import (
	"runtime"
	"sync/atomic"
)

// cache holds packed blocks of one operand for all workers. A worker that needs
// a block takes part in packing it: whoever comes takes the next unit of work,
// and all go on when the last unit is done.
type cache struct {
	operand *operand
	mem     []byte
	slots   []packState
	group   int // lanes of one unit of work
}

// packState is how far the packing of one block is.
type packState struct {
	taken, done atomic.Int32 // units
}

// unitBytes is about what one unit of packing writes.
const unitBytes = 64 << 10

func newCache(o *operand, mem []byte) *cache {
	panels := max(1, unitBytes/o.packing.panel(o.depth))
	return &cache{operand: o, mem: mem, slots: make([]packState, o.slots), group: panels * o.packing.lanes}
}

// forget empties the cache; no worker may be using it.
func (c *cache) forget() {
	for i := range c.slots {
		c.slots[i].taken.Store(0)
		c.slots[i].done.Store(0)
	}
}

func (c *cache) block(slot int) []byte {
	size := c.operand.block
	return c.mem[slot*size : (slot+1)*size]
}

// bring returns when the block of operand i that w sees is packed.
func (c *cache) bring(w *worker, i int) {
	o := c.operand
	slot := w.slot(i)
	s := &c.slots[slot]
	lanes, k := w.extent(i)
	groups := ceil(lanes, c.group)
	units := int32(groups * ceil(k, o.depth))
	if s.done.Load() == units {
		return
	}
	mem := c.block(slot)
	for {
		u := s.taken.Add(1) - 1
		if u >= units {
			break
		}
		if u == 0 {
			w.countLoad(i)
		}
		chunk, lane := int(u)/groups, int(u)%groups*c.group
		k0 := chunk * o.depth
		depth := min(o.depth, k-k0)
		dst := mem[chunk*o.chunk+lane/o.packing.lanes*o.packing.panel(depth):]
		w.pack(o, dst, o.chunk, lane, min(c.group, lanes-lane), k0, depth)
		s.done.Add(1)
	}
	for s.done.Load() < units && !w.crew.stopped.Load() {
		runtime.Gosched()
	}
}
