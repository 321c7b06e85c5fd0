package traverse

import (
	"context"

	"matladder/tile"
)

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
		for _, v := range step.Visits {
			s.Refs = append(s.Refs, RefTotals{Program: step.Program, Ref: v.Ref})
		}
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
