package analyze

import "matladder/tile"

// maxEnumerated bounds the programs that are walked one by one.
const maxEnumerated = 1 << 22

// walker visits the programs of a grid in order and is the tile.Env of each.
type walker map[*tile.Axis]int

func (w walker) ProgramID(a *tile.Axis) int     { return w[a] }
func (walker) TableValue(*tile.Ref, int) int    { return 0 }
func walk(p *tile.Program, f func(walker) bool) { walkAxes(p.Grid, walker{}, f) }

func walkAxes(grid []*tile.Axis, w walker, f func(walker) bool) bool {
	if len(grid) == 0 {
		return f(w)
	}
	for id := range grid[0].Size {
		w[grid[0]] = id
		if !walkAxes(grid[1:], w, f) {
			return false
		}
	}
	return true
}

// countable reports whether p's grid may be walked for these expressions.
func countable(p *tile.Program, xs ...tile.IndexExpr) bool {
	ok := p.Steps() <= maxEnumerated
	for _, x := range xs {
		tile.WalkIndex(x, func(x tile.IndexExpr) {
			if _, table := x.(tile.Lookup); table {
				ok = false
			}
		})
	}
	return ok
}

// enumerate counts a ref's traffic by walking the grid.
func enumerate(p *tile.Program, r *tile.Ref) (traffic, error) {
	if !countable(p, r.Index...) {
		return traffic{}, ErrUncountable
	}
	var t traffic
	last := make([]int, len(r.Index))
	walk(p, func(w walker) bool {
		moved := t.moves == 0
		size := int64(1)
		for i, x := range r.Index {
			at := tile.Eval(x, w)
			moved = moved || at != last[i]
			last[i] = at
			size *= int64(extent(r, i, at))
		}
		if moved {
			t.moves++
			t.bytes += r.Dtype.Bytes(size)
		}
		return true
	})
	return t, nil
}

// stepsWhere counts the programs in which c holds.
func stepsWhere(p *tile.Program, c tile.Cond) (int64, error) {
	if !countable(p, condIndexes(c)...) {
		return 0, ErrUncountable
	}
	var n int64
	walk(p, func(w walker) bool {
		if tile.EvalCond(c, w) {
			n++
		}
		return true
	})
	return n, nil
}

func condIndexes(c tile.Cond) []tile.IndexExpr {
	switch c := c.(type) {
	case tile.TestCond:
		return []tile.IndexExpr{c.X, c.Y}
	case tile.AllCond:
		return condsIndexes(c)
	case tile.AnyCond:
		return condsIndexes(c)
	case tile.NotCond:
		return condIndexes(c.Cond)
	}
	return nil
}

func condsIndexes(cs []tile.Cond) []tile.IndexExpr {
	var xs []tile.IndexExpr
	for _, c := range cs {
		xs = append(xs, condIndexes(c)...)
	}
	return xs
}
