package tile

import (
	"slices"

	"matladder/internal/each"
)

// outputVisits: every block of an output is seen by some program, by those of
// one place in the parallel grid only, and by all of them one after another.
func outputVisits(v *verifier) {
	for _, r := range v.program.Refs {
		switch {
		case r.Kind != Out || r.Main || !TableFree(r.Index...):
		case plainMap(r.Index):
			v.plainVisits(r)
		default:
			v.countedVisits(r)
		}
	}
}

// plainMap reports whether an index map has constants and distinct axes alone.
func plainMap(index []IndexExpr) bool {
	for d, x := range index {
		switch x.(type) {
		case Const:
		case *Axis:
			if slices.Contains(index[:d], x) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plainVisits decides from the sizes of axes alone.
func (v *verifier) plainVisits(r *Ref) {
	for d, n := range r.Blocks() {
		if a, ok := r.Index[d].(*Axis); ok && a.Size < n {
			v.errorf(r.Pos, "%s: axis %s has %d programs, but there are %d blocks along dimension %d: the last ones are never written",
				describe(r), a.Name, a.Size, n, d)
		} else if !ok && n > 1 {
			v.errorf(r.Pos, "%s: the index map has %s along dimension %d, where there are %d blocks: the others are never written",
				describe(r), r.Index[d], d, n)
		}
	}
	inner := false // whether an axis of the index map is inside the one at hand
	for _, a := range slices.Backward(v.program.Grid) {
		switch {
		case a.Size == 1:
		case slices.Contains(r.Index, IndexExpr(a)):
			inner = true
		case a.Semantics == Parallel:
			v.errorf(r.Pos, "%s: index map (%s): every program along the parallel axis %s writes the same block",
				describe(r), indexString(r.Index), a.Name)
		case inner:
			v.errorf(r.Pos, "%s: index map (%s): the grid leaves each block and comes back to it in the next step of %s: let %s be the last axis",
				describe(r), indexString(r.Index), a.Name, a.Name)
		}
	}
}

// visitAxes returns the axes along which to count the visits of r's blocks: all down to the last
// one that its index map uses. An axis that it does not use shows in two steps what it does in all.
func (v *verifier) visitAxes(r *Ref) (axes []*Axis, limit func(*Axis) int) {
	used := axesIn(v.program.Grid, r.Index...)
	for _, a := range v.program.Grid {
		if len(used) > 0 && slices.Index(v.program.Grid, a) <= slices.Index(v.program.Grid, used[len(used)-1]) && a.Size > 1 {
			axes = append(axes, a)
		}
	}
	return axes, func(a *Axis) int {
		if !slices.Contains(used, a) {
			return min(a.Size, 2)
		}
		return a.Size
	}
}

// countedVisits follows the grid, block by block.
func (v *verifier) countedVisits(r *Ref) {
	axes, limit := v.visitAxes(r)
	n, ok := combinations(axes, limit)
	blocks := Elements(r.Blocks())
	switch {
	case !ok:
		v.errorf(r.Pos, "%s: index map (%s): more than a million programs to check: let each result be an axis or a constant",
			describe(r), indexString(r.Index))
		return
	case blocks > int64(n):
		v.errorf(r.Pos, "%s: index map (%s): %d programs cannot write its %d blocks", describe(r), indexString(r.Index), n, blocks)
		return
	}
	for _, a := range v.program.Grid {
		if a.Semantics == Parallel && a.Size > 1 && !slices.Contains(axes, a) {
			v.errorf(r.Pos, "%s: index map (%s): every program along the parallel axis %s writes the same block",
				describe(r), indexString(r.Index), a.Name)
			return
		}
	}
	lastVisit := make([]int, blocks) // from 1 on; 0 for none
	visitor := make([]int, blocks)
	step, seen := 0, int64(0)
	enumerate(axes, limit, func(c *Point) bool {
		step++
		block := r.blockNumber(c)
		place := c.parallelPlace()
		switch {
		case lastVisit[block] == 0:
			seen++
			visitor[block] = place
		case visitor[block] != place:
			v.errorf(r.Pos, "%s: index map (%s): two parallel programs write block [%s], program %s the second",
				describe(r), indexString(r.Index), shapeString(r.blockAt(c)), c)
			return false
		case lastVisit[block] != step-1:
			v.errorf(r.Pos, "%s: index map (%s): the grid leaves block [%s] and comes back to it in program %s",
				describe(r), indexString(r.Index), shapeString(r.blockAt(c)), c)
			return false
		}
		lastVisit[block] = step
		return true
	})
	if i := slices.Index(lastVisit, 0); i >= 0 && step == n {
		v.errorf(r.Pos, "%s: index map (%s): block [%s] and %d others are never written",
			describe(r), indexString(r.Index), shapeString(unravel(i, r.Blocks())), blocks-seen-1)
	}
}

// blockAt returns the block that r shows in a program.
func (r *Ref) blockAt(env Env) []int {
	return each.Of(r.Index, func(x IndexExpr) int { return Eval(x, env) })
}

// blockNumber is blockAt as one number, row-major.
func (r *Ref) blockNumber(env Env) int {
	n := 0
	for d, x := range r.Index {
		n = n*Ceil(r.Array[d], r.Step(d)) + Eval(x, env)
	}
	return n
}

// parallelPlace numbers the place of a point among its parallel axes.
func (c *Point) parallelPlace() int {
	n := 0
	for i, a := range c.axes {
		if a.Semantics == Parallel {
			n = n*a.Size + c.at[i]
		}
	}
	return n
}

func unravel(i int, dims []int) []int {
	at := make([]int, len(dims))
	for d := range slices.Backward(dims) {
		at[d], i = i%dims[d], i/dims[d]
	}
	return at
}
