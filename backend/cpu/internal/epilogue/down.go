package epilogue

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// down compiles e, a value of float32 that has one column, whose rows are those of the
// destination: what comes computes elements row … row+n-1. What a softmax knows of its rows
// are such columns: along them it is computed as fast as values are along rows.
func (c *values) down(e *tile.Expr) plan.Lanes[float32] {
	binary := binaryFloats(e.Op, &c.plan.Loops)
	if e.Dtype == tile.Float32 {
		if x := c.reduceDown(e); x != nil {
			return x
		}
	}
	switch {
	case e.Dtype != tile.Float32:
	case e.Op == tile.OpConst, e.Op == tile.OpBroadcast && (len(e.Args[0].Shape) < 2 || e.Args[0].Shape[0] == 1):
		x := c.single(e)
		return lanes(c, func(w *plan.Frame, _, _ int, out []float32) { memory.Fill(out, x(w, 0)) })
	case e.Op == tile.OpBroadcast:
		return c.down(e.Args[0])
	case e.Op == tile.OpLoad && c.plan.Refs[c.plan.Number(e.Ref)].LD == 1:
		return c.loadDown(c.plan.Number(e.Ref))
	case binary != nil:
		return zip(c, c.down(e.Args[0]), c.down(e.Args[1]), binary)
	case e.Op == tile.OpExp, e.Op == tile.OpExp2:
		loop := c.exponentials(e.Op)
		return apply(c, c.down(e.Args[0]), func(o, x []float32) { loop(o, x, 0) })
	}
	x := c.single(e)
	return lanes(c, func(w *plan.Frame, row, _ int, out []float32) {
		for l := range out {
			out[l] = x(w, row+l)
		}
	})
}

// loadDown reads a column whose elements follow each other; what a block has beyond its
// array is zero.
func (c *values) loadDown(r int) plan.Lanes[float32] {
	i := c.slot()
	return func(w *plan.Frame, row, _, n int) []float32 {
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
func (c *values) storeDown(x plan.Lanes[float32]) func(w *plan.Frame, row, n int) {
	r := c.step.Dst
	return func(w *plan.Frame, row, n int) {
		copy(memory.View[float32](w.Data[r])[w.Places[r].Off+row:][:n], x(w, row, 0, n))
	}
}
