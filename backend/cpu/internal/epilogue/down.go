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
	case e.Op == tile.OpConst, plan.OneRow(e):
		x := c.single(e)
		return lanes(c, func(w *plan.Frame, _, _ int, out []float32) { memory.Fill(out, x(w, 0)) })
	case e.Op == tile.OpBroadcast:
		return c.down(e.Args[0])
	case e.Op == tile.OpLoad && c.plan.Refs[c.plan.Number(e.Ref)].LD == 1:
		return c.loadDown(c.plan.Number(e.Ref))
	case binary != nil:
		return zip(c, c.down(e.Args[0]), c.down(e.Args[1]), binary)
	case e.Op == tile.OpRsqrt:
		return apply(c, c.down(e.Args[0]), unaryFloats[e.Op])
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

// one computes the only element of row row of a value, or the one that all elements
// of it are, in less time than lanes of one element would take.
type one func(w *plan.Frame, row int) float32

// single compiles e, of float32, which has one column or the same in all.
func (c *values) single(e *tile.Expr) one {
	binary := singles[e.Op]
	switch {
	case e.Op == tile.OpConst:
		return constant(float32(e.Dtype.Round(e.Value)))
	case e.Op == tile.OpBroadcast:
		x := c.single(e.Args[0])
		if plan.OneRow(e) {
			return func(w *plan.Frame, _ int) float32 { return x(w, 0) }
		}
		return x
	case e.Op == tile.OpLoad && e.Dtype == tile.Float32:
		r := c.plan.Number(e.Ref)
		ld := c.plan.Refs[r].LD
		return func(w *plan.Frame, row int) float32 {
			at := &w.Places[r]
			if row >= at.Rows || at.Cols == 0 {
				return 0
			}
			return memory.View[float32](w.Data[r])[at.Off+row*ld]
		}
	case e.Op == tile.OpReduceMax && e.Args[0].Op == tile.OpAbs && plan.AlongRow(e):
		if x := c.absMaxOfBits(e.Args[0].Args[0]); x != nil {
			return x
		}
	case binary != nil && e.Dtype == tile.Float32:
		x, y := c.single(e.Args[0]), c.single(e.Args[1])
		return func(w *plan.Frame, row int) float32 { return binary(x(w, row), y(w, row)) }
	}
	x := c.floats(e)
	return func(w *plan.Frame, row int) float32 { return x(w, row, 0, 1)[0] }
}

func constant(v float32) one { return func(*plan.Frame, int) float32 { return v } }

var singles = map[tile.Op]func(x, y float32) float32{
	tile.OpAdd: func(x, y float32) float32 { return x + y },
	tile.OpSub: func(x, y float32) float32 { return x - y },
	tile.OpMul: func(x, y float32) float32 { return x * y },
	tile.OpDiv: func(x, y float32) float32 { return x / y },
	tile.OpMax: func(x, y float32) float32 { return max(x, y) },
	tile.OpMin: func(x, y float32) float32 { return min(x, y) },
}
