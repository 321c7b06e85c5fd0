package epilogue

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Short rows are stacked: several are computed in one call, one after another in one vector, so
// that what a loop takes to begin is paid once for all of them. Lanes are then asked for rows ×
// columns elements, from column 0 on. Elementwise operations need not know; what reads memory,
// or changes the number of columns, does.

// stack sets how many rows of v the step computes in one call, and reports whether those are
// several.
func (c *values) stack(v *tile.Expr) bool {
	c.rows = 1
	if shape := v.Shape; len(shape) == 2 && c.stacks(v, shape[0]) {
		c.rows = max(1, min(shape[0], plan.VectorLanes/shape[1]))
	}
	return c.rows > 1
}

// stacks reports whether e can be computed for several of so many rows at once. All elementwise
// operations can.
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
		return !slices.ContainsFunc(e.Args, func(x *tile.Expr) bool { return !c.stacks(x, rows) })
	}
	return false
}

// stackedStore compiles a store of v, of floats, whose rows are stacked. Parts that stand one
// after another in a row are written each for itself.
func (c *values) stackedStore(v *tile.Expr, d tile.Dtype, nonTemporal bool) {
	var writers []rowsWriter
	begin, atOnce := 0, rowsAtOnce
	for _, part := range sideBySide(v) {
		write, most := c.stored(part, begin, d, nonTemporal, true)
		atOnce = min(atOnce, most)
		writers = append(writers, write)
		begin += width(part)
	}
	all := func(w *plan.Frame, row, col, count, n int) {
		for _, write := range writers {
			write(w, row, col, count, n)
		}
	}
	c.step.Store = func(w *plan.Frame, row, col, n int) { all(w, row, col, 1, n) }
	c.step.AtOnce = atOnce
	c.step.StoreRows = all
}

// sideBySide is the parts of e that stand one after another in each row.
func sideBySide(e *tile.Expr) (parts []*tile.Expr) {
	if e.Op != tile.OpConcat || e.Dtype != tile.Float32 || e.Dim != len(e.Shape)-1 {
		return []*tile.Expr{e}
	}
	for _, x := range e.Args {
		parts = append(parts, sideBySide(x)...)
	}
	return parts
}

// rowsWriter computes and writes elements col … col+n-1 of count rows of the destination.
type rowsWriter = func(w *plan.Frame, row, col, count, n int)

// rowByRow makes Lanes that know one row serve stacked rows: it calls x for each and puts the
// results one after another. same says that all rows are the first one.
func rowByRow[T any](c *values, width int, same bool, x plan.Lanes[T]) plan.Lanes[T] {
	if c.rows <= 1 {
		return x
	}
	several := lanes(c, func(w *plan.Frame, row, _ int, out []T) {
		if same {
			copy(out, x(w, row, 0, width))
			repeat(out, width)
			return
		}
		for ; len(out) > 0; row, out = row+1, out[width:] {
			copy(out, x(w, row, 0, width))
		}
	})
	return func(w *plan.Frame, row, col, n int) []T {
		if n <= width {
			return x(w, row, col, n)
		}
		return several(w, row, col, n)
	}
}

// repeat has the first elements again and again.
func repeat[T any](x []T, first int) {
	for ; first < len(x); first *= 2 {
		copy(x[first:], x[:first])
	}
}

// width is how many columns a block has.
func width(e *tile.Expr) int {
	if len(e.Shape) == 0 {
		return 1
	}
	return e.Shape[len(e.Shape)-1]
}
