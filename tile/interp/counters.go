package interp

import "matladder/tile"

// Counters are what one run did, as a sequential machine with one buffer for
// each ref would do it.
type Counters struct {
	GridSteps    int64 // programs run
	BlocksLoaded int64 // input blocks brought in
	BytesLoaded  int64 // bytes of them inside their arrays
	BlocksStored int64 // output blocks written back
	BytesStored  int64 // bytes of them inside their arrays
	Refs         []RefCounters
}

// RefCounters is the share of one ref. A block counts as loaded, or stored, when
// its index differs from that of the step before; a table is loaded once for its
// program, whole.
type RefCounters struct {
	Ref    *tile.Ref // an In, Out or Table
	Blocks int64
	Bytes  int64
}

// count adds what m did.
func (m *machine) count(c *Counters) {
	c.GridSteps += m.steps
	for _, v := range m.views {
		switch v.ref.Kind {
		case tile.Scratch:
			continue
		case tile.Out:
			c.BlocksStored += v.blocks
			c.BytesStored += v.bytes
		default:
			c.BlocksLoaded += v.blocks
			c.BytesLoaded += v.bytes
		}
		c.Refs = append(c.Refs, RefCounters{v.ref, v.blocks, v.bytes})
	}
}
