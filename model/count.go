package model

import (
	"errors"
	"fmt"
	"slices"

	"matladder/tile"
)

// Counts are what one launch of a sequence of programs does.
type Counts struct {
	FLOPs      int64 // of every Dot, inside the arrays where it reads them, on all of a scratch; operations for integers
	BytesMin   int64 // every input and output array once
	BytesMoved int64 // blocks between main and fast memory, after tiling
	FastBytes  int64 // fast memory of one worker: blocks, twice if their index changes, and scratch
	GridSteps  int64
}

// ErrUncountable is what Count answers where only running the program would
// tell: index maps through a scalar table, or a grid too large to enumerate
// with maps that are more than one axis a dimension.
var ErrUncountable = errors.New("only a run tells which blocks move and what is done with them")

// Count counts programs that run in order in one launch. Blocks move as the pipeline of a TPU moves
// them: in the order of the grid, and only where the block index differs from the step before.
func Count(programs []*tile.Program) (Counts, error) {
	var c Counts
	b, err := tile.Bind(programs)
	if err != nil {
		return c, err
	}
	for _, r := range slices.Concat(b.In, b.Out) {
		c.BytesMin += r.ArrayBytes()
	}
	for _, p := range programs {
		steps := p.Steps()
		c.GridSteps += steps
		var fast int64
		for _, r := range p.Refs {
			traffic, err := refTraffic(p, r)
			if err != nil {
				return c, err
			}
			c.BytesMoved += traffic.bytes
			fast += traffic.fastBytes(r)
		}
		c.FastBytes = max(c.FastBytes, fast)
		var d dots
		if d.body(p.Body, p.Grid, nil); d.err != nil {
			return c, fmt.Errorf("%s: %w", p.Name, d.err)
		}
		c.FLOPs += d.total
	}
	return c, nil
}

// traffic is what one ref moves in one launch.
type traffic struct {
	moves int64 // blocks
	bytes int64 // inside the array
}

// fastBytes is what r takes of fast memory: a block, or two if it moves.
func (t traffic) fastBytes(r *tile.Ref) int64 {
	if t.moves > 1 {
		return 2 * r.BlockBytes()
	}
	return r.BlockBytes()
}

func refTraffic(p *tile.Program, r *tile.Ref) (traffic, error) {
	switch r.Kind {
	case tile.Scratch:
		return traffic{}, nil
	case tile.Table:
		return traffic{1, r.ArrayBytes()}, nil
	}
	if used, ok := plainAxes(r); ok {
		return plainTraffic(p, r, used), nil
	}
	return enumerate(p, r)
}

// plainAxes returns the axes of an index map whose every dimension is an axis
// of its own that covers the array, or a constant.
func plainAxes(r *tile.Ref) (map[*tile.Axis]bool, bool) {
	used := map[*tile.Axis]bool{}
	if r.Overlap() {
		return nil, false
	}
	blocks := r.Blocks()
	for i, x := range r.Index {
		switch x := x.(type) {
		case tile.Const:
		case *tile.Axis:
			if used[x] || x.Size != blocks[i] {
				return nil, false
			}
			used[x] = true
		default:
			return nil, false
		}
	}
	return used, true
}

// plainTraffic needs no enumeration: the index changes with the innermost of
// its axes, hence once per program of the axes down to that one, and every
// block of the covered part moves equally often.
func plainTraffic(p *tile.Program, r *tile.Ref, used map[*tile.Axis]bool) traffic {
	moves, repeats := int64(1), int64(1)
	outer, outerUnused := int64(1), int64(1)
	for _, a := range p.Grid {
		outer *= int64(a.Size)
		if !used[a] {
			outerUnused *= int64(a.Size)
		} else if a.Size > 1 {
			moves, repeats = outer, outerUnused
		}
	}
	covered := int64(1)
	for i, x := range r.Index {
		if c, ok := x.(tile.Const); ok {
			covered *= int64(r.Inside(i, int(c)))
		} else {
			covered *= int64(r.Array[i])
		}
	}
	return traffic{moves, repeats * r.Dtype.Bytes(covered)}
}

// maxEnumerated bounds the programs that are walked one by one.
const maxEnumerated = 1 << 22

// countable reports whether axes may be walked for these expressions.
func countable(axes []*tile.Axis, xs ...tile.IndexExpr) bool {
	steps := 1
	for _, a := range axes {
		if a.Size > maxEnumerated/steps {
			return false
		}
		steps *= max(1, a.Size)
	}
	return tile.TableFree(xs...)
}

// enumerate counts a ref's traffic by walking the grid.
func enumerate(p *tile.Program, r *tile.Ref) (traffic, error) {
	if !countable(p.Grid, r.Index...) {
		return traffic{}, fmt.Errorf("%s: %s: %w", p.Name, r.Name, ErrUncountable)
	}
	var t traffic
	w := tile.NewWindow(r)
	for program := range tile.Points(p.Grid) {
		if w.Move(program) {
			t.moves++
			t.bytes += w.Bytes()
		}
	}
	return t, nil
}
