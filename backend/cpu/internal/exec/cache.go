package exec

import (
	"runtime"
	"sync/atomic"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/timeline"
	"matladder/tile"
)

// cache holds packed blocks of one operand for all workers. A worker that needs
// a block takes part in packing it: whoever comes takes the next unit of work,
// and all go on when the last unit is done.
type cache struct {
	operand *plan.Operand
	mem     []byte
	slots   []packState
	group   int  // lanes of one unit of work
	part    int  // elements of k of one, of a chunk's
	full    bool // holds every block for good: it was packed ahead of launches
	far     bool // and that are more than a core's own cache holds
}

// packState is how far the packing of one block is.
type packState struct {
	taken, done atomic.Int32               // units
	_           [memory.CacheLine - 8]byte // workers that are at the next block come to another line
}

// A unit of packing writes about plan.UnitBytes. Where rows of memory run along
// panels, it is unitRows of them at least, and as long a part of each as that allows:
// of float32, 512 elements of each row come at 14 GB/s from memory, 128 at 10, 16 at 5
// (one core of an AMD EPYC, Zen 3).
const unitRows = 32

func newCache(o *plan.Operand, mem []byte) *cache {
	c := &cache{operand: o, mem: mem, slots: make([]packState, o.Slots), part: o.Depth}
	panel := o.Packing.Panel(o.Depth)
	if unit := o.Packing.Unit; o.Columns {
		row := tile.Ceil(panel, o.Depth) // of one panel
		panels := min(max(1, plan.UnitBytes/unitRows/row), tile.Ceil(o.Lanes, o.Packing.Lanes))
		c.group = panels * o.Packing.Lanes
		c.part = min(tile.Ceil(max(unitRows, plan.UnitBytes/(panels*row)), unit)*unit, o.Depth)
		return c
	}
	c.group = max(1, plan.UnitBytes/panel) * o.Packing.Lanes
	return c
}

// forget empties the cache; no worker may be using it.
func (c *cache) forget() {
	for i := range c.slots {
		c.slots[i].taken.Store(0)
		c.slots[i].done.Store(0)
	}
}

func (c *cache) block(slot int) []byte {
	size := c.operand.Block
	return c.mem[slot*size : (slot+1)*size]
}

// bring returns when the block of operand i that w sees is packed.
func (c *cache) bring(w *Worker, i int) {
	w.Taping = w.Taping && (w.pool.Size == 1 || c.full) // who packs what is another each time
	o := c.operand
	slot := w.slot(i)
	s := &c.slots[slot]
	lanes, k := w.extent(i)
	groups, parts := tile.Ceil(lanes, c.group), tile.Ceil(o.Depth, c.part)
	units := int32(groups * parts * tile.Ceil(k, o.Depth))
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
		part, lane := int(u)/groups, int(u)%groups*c.group
		chunk, from := part/parts, part%parts*c.part
		k0 := chunk * o.Depth
		if depth := min(o.Depth, k-k0); from < depth { // the last chunk may have fewer parts
			panel := o.Packing.Panel(depth)
			began := w.now()
			dst := mem[chunk*o.Chunk+lane/o.Packing.Lanes*panel+o.Packing.Panel(from):]
			w.packPart(o, dst, panel, lane, min(c.group, lanes-lane), k0+from, min(c.part, depth-from))
			w.note(timeline.Pack, began, w.Plan.Refs[o.Ref].Name)
		}
		s.done.Add(1)
	}
	// What others still pack takes less than a call of the scheduler.
	const spins = 4096
	crowded, began := w.pool.start.crowded.Load(), w.now()
	for i := 1; s.done.Load() < units && !w.pool.stopped.Load(); i++ {
		if crowded || i%spins == 0 {
			runtime.Gosched()
		}
	}
	if w.record != nil {
		w.note(timeline.Wait, began, "for "+w.Plan.Refs[o.Ref].Name)
	}
}
