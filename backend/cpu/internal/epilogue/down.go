package epilogue

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// down compiles e, whose rows are those of the destination.
func (c *values) down(e *tile.Expr) plan.Down {
	binary := binaryFloats(e.Op, &c.plan.Loops)
	switch {
	case e.Dtype != tile.Float32:
	case e.Op == tile.OpConst, e.Op == tile.OpBroadcast && (len(e.Args[0].Shape) < 2 || e.Args[0].Shape[0] == 1):
		i, x := c.slot(), c.single(e)
		return func(w *plan.Frame, _, n int) []float32 {
			out := vector[float32](w, i, n)
			memory.Fill(out, x(w, 0))
			return out
		}
	case e.Op == tile.OpBroadcast:
		return c.down(e.Args[0])
	case e.Op == tile.OpLoad && c.plan.Refs[c.plan.Number(e.Ref)].LD == 1:
		return c.loadDown(c.plan.Number(e.Ref))
	case binary != nil:
		i, x, y := c.slot(), c.down(e.Args[0]), c.down(e.Args[1])
		return func(w *plan.Frame, row, n int) []float32 {
			a, b := x(w, row, n), y(w, row, n)
			out := vector[float32](w, i, n)
			binary(out, a, b)
			return out
		}
	case e.Op == tile.OpExp, e.Op == tile.OpExp2:
		loop := c.exponentials(e.Op)
		i, x := c.slot(), c.down(e.Args[0])
		return func(w *plan.Frame, row, n int) []float32 {
			v := x(w, row, n)
			out := vector[float32](w, i, n)
			loop(out, v, 0)
			return out
		}
	}
	i, x := c.slot(), c.single(e)
	return func(w *plan.Frame, row, n int) []float32 {
		out := vector[float32](w, i, n)
		for l := range out {
			out[l] = x(w, row+l)
		}
		return out
	}
}

// loadDown reads a column whose elements follow each other; what a block has beyond its
// array is zero.
func (c *values) loadDown(r int) plan.Down {
	i := c.slot()
	return func(w *plan.Frame, row, n int) []float32 {
		at := &w.Places[r]
		x := memory.View[float32](w.Data[r])[at.Off:]
		if row+n <= at.Rows {
			return x[row:][:n]
		}
		out := vector[float32](w, i, n)
		clear(out)
		if row < at.Rows {
			copy(out, x[row:at.Rows])
		}
		return out
	}
}

// storeDown writes a value of one column.
func (c *values) storeDown(x plan.Down) func(w *plan.Frame, row, n int) {
	r := c.step.Dst
	return func(w *plan.Frame, row, n int) {
		copy(memory.View[float32](w.Data[r])[w.Places[r].Off+row:][:n], x(w, row, n))
	}
}
