package analyze

import "matladder/tile"

// maxEnumerated bounds the programs that are walked one by one.
const maxEnumerated = 1 << 22

// walker is the tile.Env of one program.
type walker map[*tile.Axis]int

func (w walker) ProgramID(a *tile.Axis) int  { return w[a] }
func (walker) TableValue(*tile.Ref, int) int { return 0 }

// walk visits all ids of axes in order, the last axis fastest.
func walk(axes []*tile.Axis, f func(walker)) { walker{}.visit(axes, f) }

func (w walker) visit(axes []*tile.Axis, f func(walker)) {
	if len(axes) == 0 {
		f(w)
		return
	}
	for id := range axes[0].Size {
		w[axes[0]] = id
		w.visit(axes[1:], f)
	}
}

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
		return traffic{}, ErrUncountable
	}
	var t traffic
	last := make([]int, len(r.Index))
	walk(p.Grid, func(w walker) {
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
	})
	return t, nil
}
