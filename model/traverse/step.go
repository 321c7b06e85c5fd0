package traverse

import (
	"context"

	"matladder/internal/each"
	"matladder/tile"
)

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

// blockSet is a set of block numbers, a bit each, in pages made when they are first touched.
type blockSet struct {
	pages map[int64]*page
	last  int64 // number of the page used last
	page  *page
}

const (
	pageWords = 512
	pageBits  = pageWords * 64
)

type page [pageWords]uint64

// add reports whether n was in the set before.
func (s *blockSet) add(n int64) bool {
	if at := n / pageBits; s.page == nil || at != s.last {
		if s.pages == nil {
			s.pages = map[int64]*page{}
		}
		if s.pages[at] == nil {
			s.pages[at] = new(page)
		}
		s.page, s.last = s.pages[at], at
	}
	word, bit := &s.page[n%pageBits/64], uint64(1)<<(n%64)
	before := *word&bit != 0
	*word |= bit
	return before
}

// Totals are what a whole launch did.
type Totals struct {
	Counters
	Refs []RefTotals // inputs, outputs and tables of all programs, in order
}

// RefTotals is the share of one ref.
type RefTotals struct {
	Program     int // number in the sequence
	Ref         *tile.Ref
	Blocks      int64 // moved
	Kept        int64 // steps in which the block stayed
	Bytes       int64
	BytesReread int64 // of Bytes, moved again after an earlier move

	again int64 // of Blocks, moved after an earlier move
}

// sums adds steps up.
type sums struct {
	Totals
	first int // of the refs of the program at hand
}

func (s *sums) add(step *Step) {
	if len(s.Refs) == 0 || s.Refs[len(s.Refs)-1].Program != step.Program {
		s.first = len(s.Refs)
		s.Refs = append(s.Refs, each.Of(step.Visits, func(v Visit) RefTotals { return RefTotals{Program: step.Program, Ref: v.Ref} })...)
	}
	s.Counters = step.Counters
	for i, v := range step.Visits {
		r := &s.Refs[s.first+i]
		if v.Move == Kept {
			r.Kept++
			continue
		}
		r.Blocks++
		r.Bytes += v.Bytes
		if v.Move == Again {
			r.again++
			r.BytesReread += v.Bytes
		}
	}
}

// Sum walks the grids to their ends. The errors are those of Steps, and ctx's.
func Sum(ctx context.Context, programs []*tile.Program, tables map[string]tile.Tensor) (Totals, error) {
	return walk(ctx, programs, tables, func(*Step) error { return nil })
}

// checkEvery is after how many steps a walk looks at its context.
const checkEvery = 1 << 12

// walk calls f for every step and returns the totals.
func walk(ctx context.Context, programs []*tile.Program, tables map[string]tile.Tensor, f func(*Step) error) (Totals, error) {
	var s sums
	for step, err := range steps(programs, tables) {
		if err == nil && step.GridSteps%checkEvery == 0 {
			err = ctx.Err()
		}
		if err == nil {
			s.add(step)
			err = f(step)
		}
		if err != nil {
			return Totals{}, err
		}
	}
	return s.Totals, ctx.Err()
}
