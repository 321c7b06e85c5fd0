package cpu

import "matladder/tile"

// down computes elements row … row+n-1 of a value of float32 that has one column. What a
// softmax knows of its rows are such columns: along them it is computed as fast as values
// are along rows.
type down func(w *frame, row, n int) []float32

// down compiles e, whose rows are those of the destination.
func (c *values) down(e *tile.Expr) down {
	binary := binaryFloats(e.Op, &c.plan.loops)
	switch {
	case e.Dtype != tile.Float32:
	case e.Op == tile.OpConst, e.Op == tile.OpBroadcast && (len(e.Args[0].Shape) < 2 || e.Args[0].Shape[0] == 1):
		i, x := c.slot(), c.single(e)
		return func(w *frame, _, n int) []float32 {
			out := vector[float32](w, i, n)
			fill(out, x(w, 0))
			return out
		}
	case e.Op == tile.OpBroadcast:
		return c.down(e.Args[0])
	case e.Op == tile.OpLoad && c.plan.refs[c.plan.ref(e.Ref)].ld == 1:
		return c.loadDown(c.plan.ref(e.Ref))
	case binary != nil:
		i, x, y := c.slot(), c.down(e.Args[0]), c.down(e.Args[1])
		return func(w *frame, row, n int) []float32 {
			a, b := x(w, row, n), y(w, row, n)
			out := vector[float32](w, i, n)
			binary(out, a, b)
			return out
		}
	case e.Op == tile.OpExp, e.Op == tile.OpExp2:
		loop := c.exponentials(e.Op)
		i, x := c.slot(), c.down(e.Args[0])
		return func(w *frame, row, n int) []float32 {
			v := x(w, row, n)
			out := vector[float32](w, i, n)
			loop(out, v, 0)
			return out
		}
	}
	i, x := c.slot(), c.single(e)
	return func(w *frame, row, n int) []float32 {
		out := vector[float32](w, i, n)
		for l := range out {
			out[l] = x(w, row+l)
		}
		return out
	}
}

// loadDown reads a column whose elements follow each other; what a block has beyond its
// array is zero.
func (c *values) loadDown(r int) down {
	i := c.slot()
	return func(w *frame, row, n int) []float32 {
		at := &w.places[r]
		x := view[float32](w.data[r])[at.off:]
		if row+n <= at.rows {
			return x[row:][:n]
		}
		out := vector[float32](w, i, n)
		clear(out)
		if row < at.rows {
			copy(out, x[row:at.rows])
		}
		return out
	}
}

// storeDown writes a value of one column.
func (c *values) storeDown(x down) func(w *frame, row, n int) {
	r := c.step.dst
	return func(w *frame, row, n int) {
		copy(view[float32](w.data[r])[w.places[r].off+row:][:n], x(w, row, n))
	}
}
