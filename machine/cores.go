package machine

import "matladder/tile"

// Cores are cores with caches: figures that the machine gave of itself.
type Cores struct {
	L2, L3 int64 // bytes of a core's own cache, and of the one that cores share

	L3Cores  int     `json:",omitempty"` // cores that share one; 0 for all
	Nodes    int     `json:",omitempty"` // of memory, each with as many of the cores; 0 for one
	Remote   float64 `json:",omitempty"` // bytes/s that all cores of a node together read from memory of others
	Slow     int     `json:",omitempty"` // cores that are slower than the others, the last ones
	Slowness float64 `json:",omitempty"` // their rate as a part of the others'

	Shared float64 // bytes/s that a core reads from beyond its own cache, on its way from end to end
	Memory float64 // bytes/s that all cores read from memory together
	Launch float64 // seconds of a launch of a program for each core, which computes hardly anything
	Pair   float64 // that of two cores; one alone needs none
	Task   float64 // seconds that a program takes beside its products
	Kept   int64   `json:",omitempty"` // bytes of packed blocks of a that a core keeps from one program to the next; 0 for no limit
	CoreToCore
	Rates map[tile.Dtype]ProductRate // by dtype of the operands
}

// CoreToCore is how fast memory that one core has written reaches another. It does not follow
// from the kind of processor: cores of one chiplet are nearer to each other than cores of two,
// and the host of a virtual machine may move threads from one to the other.
type CoreToCore struct {
	Line        float64 // seconds from a core's writing a cache line to another's seeing it, on average
	ReadOthers  float64 // bytes/s at which others read what a core has just written, the slowest of them
	WriteOthers float64 // bytes/s at which a core overwrites what others have read
}

// ProductRate is how fast one core multiplies operands of one dtype.
type ProductRate struct {
	Rows, Columns int     // of the register tile
	Depth         int     // elements of k that are packed together
	Few           int     // last columns of b that cost less than half a register tile
	FLOPs         float64 // per second, of packed operands in its own cache
	Fetch         float64 // bytes/s of a packed b that comes from beyond its own cache meanwhile, where few rows meet it
	PackA, PackB  float64 // bytes of rows of a and of b that are packed per second
	InPlace       int     // columns of b up to which rows of a are read without packing; 0 for none
	Direct        int     // rows of a up to which b is read without packing; 0 for none
}

// RoundTrip is the seconds for a cache line to go to another core, and for one to come back.
func (s CoreToCore) RoundTrip() float64 { return 2 * s.Line }

// Known reports whether cores have told what it costs to share memory.
func (s CoreToCore) Known() bool { return s.ReadOthers > 0 && s.WriteOthers > 0 }

// Multiplied is the dtype that cores multiply in d's place, which holds all its numbers.
func Multiplied(d tile.Dtype) tile.Dtype {
	switch d {
	case tile.Int4:
		return tile.Int8
	case tile.Float8E4M3FN, tile.Float8E5M2, tile.Float4E2M1FN:
		return tile.BFloat16
	case tile.Float16:
		return tile.Float32
	}
	return d
}
