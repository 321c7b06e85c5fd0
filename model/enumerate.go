package model

import (
	"fmt"
	"matladder/tile"
)

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
