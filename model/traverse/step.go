package traverse

import "matladder/tile"

// Step is one program of a grid, with the counters after it. Steps reuses it.
type Step struct {
	Program  int   // number in the sequence of programs
	IDs      []int // program ids, by axis of its grid
	Visits   []Visit
	Counters // including this step
}

// Visit is the block of one ref that a program sees: an In, Out or Table, in the
// order of the program's refs.
type Visit struct {
	Ref   *tile.Ref
	Index []int // the block; nil for a table
	Move  Move
	Bytes int64 // moved; 0 if Kept
}

// Move says whether a block was moved for a step: an input brought in, an output written back.
type Move uint8

// The moves.
const (
	Kept  Move = iota // it was there: the index did not change
	First             // moved for the first time
	Again             // moved again, after it was replaced
)

func (m Move) String() string { return [...]string{"kept", "first", "again"}[m] }

// Counters are what a launch has done so far.
type Counters struct {
	GridSteps    int64 // programs run
	BlocksLoaded int64 // input blocks and tables brought in
	LoadsSkipped int64 // times an input stayed, because its block index did not change
	BytesLoaded  int64
	BlocksStored int64 // output blocks
	BytesStored  int64
	BytesReread  int64 // of BytesLoaded: blocks that had been brought in before, in the same program
	// FastBytes is the fast memory of one worker in use: scratch, a buffer for
	// each ref, and a second one from the first change of its block on. Of
	// programs that run one after another, the most.
	FastBytes int64
}

// BytesMoved is loaded and stored together.
func (c Counters) BytesMoved() int64 { return c.BytesLoaded + c.BytesStored }

// add counts one visit.
func (c *Counters) add(v *Visit) {
	switch {
	case v.Ref.Kind == tile.Out && v.Move != Kept:
		c.BlocksStored++
		c.BytesStored += v.Bytes
	case v.Ref.Kind == tile.Out:
	case v.Move != Kept:
		c.BlocksLoaded++
		c.BytesLoaded += v.Bytes
		if v.Move == Again {
			c.BytesReread += v.Bytes
		}
	case v.Ref.Kind == tile.In:
		c.LoadsSkipped++
	}
}
