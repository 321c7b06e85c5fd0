package epilogue

import (
	"slices"
	"sync"

	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
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
	c.shared, c.uses = map[*tile.Expr]plan.Lanes[float32]{}, map[*tile.Expr]int{}
	tile.WalkExpr(v, func(e *tile.Expr) {
		for _, x := range e.Args {
			c.uses[x]++
		}
	})
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
	c.step.StoreRows = c.orOneByOne(func(w *plan.Frame, row, col, count, n int) bool {
		if n == width(v) {
			all(w, row, col, count, n)
		}
		return n == width(v)
	})
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

// rowsLoop goes over n elements of each of count rows, which are ldd and ldx elements apart.
type rowsLoop[D, S any] = func(dst []D, ldd int, x []S, ldx, count, n int)

func copyTo[T any](dst, x []T) { copy(dst, x) }

// stackedFloats compiles e, of a float dtype, in a step whose rows are stacked.
func (c *values) stackedFloats(e *tile.Expr) plan.Lanes[float32] {
	if x := c.shared[e]; x != nil {
		return x
	}
	x := c.loadStacked(e)
	switch {
	case x != nil:
	case sameEverywhere(e):
		x = computedOnce(c, width(e), c.floatsOf(e))
	case e.Op.IsElementwise():
		x = c.floatsOf(e)
	default:
		// It asks its operands for other elements than it is asked for: what they share is their
		// own, as a vector must not change while somebody else still reads it.
		shared := c.shared
		c.shared = map[*tile.Expr]plan.Lanes[float32]{}
		x = c.floatsOf(e)
		c.shared = shared
	}
	if c.uses[e] > 1 {
		x = rememberedFor(c, x)
	}
	c.shared[e] = x
	return x
}

// rememberedFor remembers x for the piece in hand: more than one value of the step needs it.
func rememberedFor(c *values, x plan.Lanes[float32]) plan.Lanes[float32] {
	i := c.plan.Shared
	c.plan.Shared++
	return func(w *plan.Frame, row, col, n int) []float32 {
		of := plan.Piece{Number: w.Pieces, Row: row, Col: col, N: n}
		s := &w.Shared[i]
		if s.Of != of {
			s.Of, s.Values = of, x(w, row, col, n)
		}
		return s.Values
	}
}

// loadStacked compiles e where it is columns of what a ref has; nil if it is anything else.
func (c *values) loadStacked(e *tile.Expr) plan.Lanes[float32] {
	load, start := columnsOf(e)
	if load == nil {
		return nil
	}
	r, width := c.plan.Number(load.Ref), width(e)
	if load.Dtype == tile.BFloat16 {
		return loadRows(c, r, start, width, rows.Each(c.plan.Loops.FromBFloat16))
	}
	return loadColumns[float32](c, r, start, width)
}

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
			repeat(all, width)
		})
		return all[col:][:n]
	}
}

// width is how many columns a block has.
func width(e *tile.Expr) int {
	if len(e.Shape) == 0 {
		return 1
	}
	return e.Shape[len(e.Shape)-1]
}
