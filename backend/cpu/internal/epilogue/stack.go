package epilogue

import (
	"sync"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Rows of few columns are computed several at once, stacked: the elements of each behind those
// of the row before, as one long row. What a loop takes to begin is then paid once for all of
// them. Lanes of a value that stacks are asked for more elements than it has columns, always
// from the first one on and for whole rows.

// stack sets how many rows of v the step computes at once, and reports whether those are several.
func (c *values) stack(v *tile.Expr) bool {
	c.rows = 1
	if shape := v.Shape; len(shape) == 2 && c.stacks(v, shape[0]) {
		c.rows = max(1, min(shape[0], plan.VectorLanes/shape[1]))
	}
	c.stacked, c.uses = map[*tile.Expr]plan.Lanes[float32]{}, map[*tile.Expr]int{}
	tile.WalkExpr(v, func(e *tile.Expr) {
		for _, x := range e.Args {
			c.uses[x]++
		}
	})
	return c.rows > 1
}

// stacks reports whether e can be computed for several of so many rows at once.
func (c *values) stacks(e *tile.Expr, rows int) bool {
	switch {
	case e.Op == tile.OpConst, e.Op == tile.OpIota:
		return true
	case e.Op == tile.OpLoad:
		return len(e.Shape) == 2 && e.Shape[0] == rows && (e.Dtype == tile.Float32 || e.Dtype == tile.BFloat16)
	case e.Op == tile.OpBroadcast:
		return plan.OneRow(e)
	case e.Op == tile.OpSlice:
		_, fixed := e.Index.(tile.Const)
		return fixed && e.Dim == len(e.Shape)-1
	case e.Op == tile.OpSelect && c.span(e.Args[0]) != nil:
		return false // whose sides are computed where they are needed
	case e.Op.IsElementwise(), e.Op == tile.OpConcat && e.Dim == len(e.Shape)-1:
		for _, x := range e.Args {
			if !c.stacks(x, rows) {
				return false
			}
		}
		return true
	}
	return false
}

// stackedStore compiles a store of v, of floats, whose rows are stacked. Parts that stand one
// after another in a row are written each for itself.
func (c *values) stackedStore(v *tile.Expr, d tile.Dtype, nonTemporal bool) {
	parts := []*tile.Expr{v}
	for len(parts) == 1 && parts[0].Op == tile.OpConcat && parts[0].Dtype == tile.Float32 {
		parts = parts[0].Args
	}
	var writers []func(w *plan.Frame, row, col, rows, n int)
	from, l := 0, &c.plan.Loops
	for _, x := range parts {
		switch {
		case d == tile.BFloat16 && nonTemporal:
			writers = append(writers, writePart(c, x, from, eachRow(l.ToBFloat16NonTemporal)))
		case d == tile.BFloat16:
			writers = append(writers, writePart(c, x, from, l.RowsToBFloat16))
		case nonTemporal:
			writers = append(writers, writePart(c, x, from, eachRow(l.CopyNonTemporal)))
		default:
			writers = append(writers, writePart(c, x, from, eachRow(copyTo[float32])))
		}
		from += width(x)
	}
	all := func(w *plan.Frame, row, col, rows, n int) {
		for _, write := range writers {
			write(w, row, col, rows, n)
		}
	}
	c.step.Store = func(w *plan.Frame, row, col, n int) { all(w, row, col, 1, n) }
	c.step.AtOnce = c.rows
	c.step.StoreRows = c.orOneByOne(func(w *plan.Frame, row, col, rows, n int) bool {
		if n == width(v) {
			all(w, row, col, rows, n)
		}
		return n == width(v)
	})
}

// rowsLoop goes over n elements of each of some rows, which are ldd and ldx elements apart.
type rowsLoop[D, S any] func(dst []D, ldd int, x []S, ldx, rows, n int)

// writePart writes e to the columns of the destination that begin at begin: of one row those that
// are asked for, or of several rows all.
func writePart[D any](c *values, e *tile.Expr, begin int, loop rowsLoop[D, float32]) func(w *plan.Frame, row, col, rows, n int) {
	x, r := c.floats(e), c.step.Dst
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, rows, n int) {
		first, last := max(col-begin, 0), min(col+n-begin, width(e))
		if n = last - first; n > 0 {
			loop(elements[D](w, r, ld, row, begin+first, (rows-1)*ld+n), ld, x(w, row, first, rows*n), n, rows, n)
		}
	}
}

// eachRow does of some rows, one by one, what loop does of one.
func eachRow[D, S any](loop func(dst []D, x []S)) rowsLoop[D, S] {
	return func(dst []D, ldd int, x []S, ldx, rows, n int) {
		if ldd == n && ldx == n {
			loop(dst[:rows*n], x[:rows*n])
			return
		}
		for i := range rows {
			loop(dst[i*ldd:][:n], x[i*ldx:][:n])
		}
	}
}

func copyTo[T any](dst, x []T) { copy(dst, x) }

// loadRows reads columns of ref r, width of them from start on, of one row or of several; what
// its block has beyond the array is zero.
func loadRows[S any](c *values, r, start, width int, loop rowsLoop[float32, S]) plan.Lanes[float32] {
	ld := c.plan.Refs[r].LD
	return lanes(c, func(w *plan.Frame, row, col int, out []float32) {
		rows, n := 1, len(out)
		if n > width {
			rows, n = n/width, width
		}
		at := &w.Places[r]
		inside, have := min(max(at.Rows-row, 0), rows), min(max(at.Cols-start-col, 0), n)
		if inside < rows || have < n {
			clear(out)
		}
		if inside > 0 && have > 0 {
			loop(out, n, elements[S](w, r, ld, row, start+col, (inside-1)*ld+have), ld, inside, have)
		}
	})
}

// loadStacked compiles e where it is columns of what a ref has; nil if it is anything else.
func (c *values) loadStacked(e *tile.Expr) plan.Lanes[float32] {
	start, width := 0, width(e)
	for {
		if e.Op == tile.OpCast && e.Dtype == tile.Float32 && e.Args[0].Dtype == tile.BFloat16 {
			e = e.Args[0]
			continue
		}
		from, fixed := e.Index.(tile.Const)
		if e.Op != tile.OpSlice || !fixed || e.Dim != len(e.Shape)-1 {
			break
		}
		start, e = start+int(from), e.Args[0]
	}
	if e.Op != tile.OpLoad {
		return nil
	}
	r := c.plan.Number(e.Ref)
	if e.Dtype == tile.BFloat16 {
		return loadRows(c, r, start, width, c.plan.Loops.RowsFromBFloat16)
	}
	rows, ld := loadRows(c, r, start, width, eachRow(copyTo[float32])), c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, n int) []float32 {
		at, several := &w.Places[r], max(1, n/width)
		if row+several <= at.Rows && start+col+n/several <= at.Cols && (several == 1 || width == ld) {
			return elements[float32](w, r, ld, row, start+col, n)
		}
		return rows(w, row, col, n)
	}
}

// rowByRow has x, of so many columns, which knows one row only, make several one after another
// where rows are stacked.
func rowByRow[T any](c *values, width int, x plan.Lanes[T]) plan.Lanes[T] {
	if c.rows <= 1 {
		return x
	}
	several := lanes(c, func(w *plan.Frame, row, _ int, out []T) {
		for ; len(out) > 0; row, out = row+1, out[width:] {
			copy(out[:width], x(w, row, 0, width))
		}
	})
	return func(w *plan.Frame, row, col, n int) []T {
		if n <= width {
			return x(w, row, col, n)
		}
		return several(w, row, col, n)
	}
}

// sameEverywhere reports whether e is the same row in all programs, rows and launches.
func sameEverywhere(e *tile.Expr) bool {
	same, varies := true, false
	tile.WalkExpr(e, func(x *tile.Expr) {
		switch {
		case x.Op == tile.OpIota:
			varies = true
			same = same && x.Dim == len(x.Shape)-1
		case x.Op != tile.OpConst && x.Op != tile.OpBroadcast && !x.Op.IsElementwise():
			same = false
		}
	})
	return same && varies
}

// computedOnce has x, a value that is the same everywhere, computed when it is first asked for.
func computedOnce[T any](c *values, width int, x plan.Lanes[T]) plan.Lanes[T] {
	var once sync.Once
	all := make([]T, c.rows*width)
	return func(w *plan.Frame, _, col, n int) []T {
		once.Do(func() {
			copy(all, x(w, 0, 0, width))
			for have := width; have < len(all); have *= 2 {
				copy(all[have:], all[:have])
			}
		})
		return all[col:][:n]
	}
}

// usedAgain has x, which more than one value of the step needs, computed once for each piece.
func usedAgain(c *values, x plan.Lanes[float32]) plan.Lanes[float32] {
	i := c.plan.Shared
	c.plan.Shared++
	return func(w *plan.Frame, row, col, n int) []float32 {
		of := plan.Piece{Number: w.Piece, Row: row, Col: col, N: n}
		if s := &w.Shared[i]; s.Of != of {
			s.Of, s.Values = of, x(w, row, col, n)
		}
		return w.Shared[i].Values
	}
}

// stackedFloats compiles e, of a float dtype, in a step whose rows are stacked.
func (c *values) stackedFloats(e *tile.Expr) plan.Lanes[float32] {
	if x := c.stacked[e]; x != nil {
		return x
	}
	x := c.loadStacked(e)
	switch {
	case x != nil:
	case sameEverywhere(e):
		x = computedOnce(c, width(e), c.floatsOf(e))
	default:
		x = c.floatsOf(e)
	}
	if c.uses[e] > 1 {
		x = usedAgain(c, x)
	}
	c.stacked[e] = x
	return x
}

// width is how many columns a block has.
func width(e *tile.Expr) int {
	if len(e.Shape) == 0 {
		return 1
	}
	return e.Shape[len(e.Shape)-1]
}
