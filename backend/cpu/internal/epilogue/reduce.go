package epilogue

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// slice reads x, of e's operand, from where the slice starts.
func slice[T any](c *values, e *tile.Expr, x plan.Lanes[T]) plan.Lanes[T] {
	from, ok := e.Index.(tile.Const)
	if !ok {
		c.fail(e, "slice that moves, for %s", c.step.Stmt.Ref.Name)
		return nil
	}
	start := int(from)
	if e.Dim == len(e.Shape)-1 {
		return rowByRow(c, width(e), false, func(w *plan.Frame, row, col, n int) []T { return x(w, row, col+start, n) })
	}
	return func(w *plan.Frame, row, col, n int) []T { return x(w, row+start, col, n) }
}

// reduce folds each row of x, of e's operand, into one element: first of the
// first piece of a row, then of what is there and the next. Of a ref that is loaded it goes
// over the columns of its band, where steps do that.
func reduce[S, T any](c *values, e *tile.Expr, x plan.Lanes[S], first func(x []S) T, next func(a, b T) T) plan.Lanes[T] {
	i, shape := c.slot(), e.Args[0].Shape
	width, ref := shape[len(shape)-1], -1
	if e.Args[0].Op == tile.OpLoad {
		ref = c.plan.Number(e.Args[0].Ref)
	}
	c.step.Passes += tile.Ceil(width, plan.VectorLanes)
	return func(w *plan.Frame, row, _, _ int) []T {
		out := vector[T](w, i, 1)
		from, to := w.Columns(ref, width)
		for col := from; col < to; col += plan.VectorLanes {
			w.Ask()
			piece := first(x(w, row, col, min(plan.VectorLanes, to-col)))
			if col > from {
				piece = next(out[0], piece)
			}
			out[0] = piece
		}
		return out
	}
}

// folds are the operations on two rows by which reductions down columns fold them.
var folds = map[tile.Op]tile.Op{tile.OpReduceMax: tile.OpMax, tile.OpReduceSum: tile.OpAdd}

// reduceColumns folds the rows of x, of e's operand, into one.
func reduceColumns[T any](c *values, e *tile.Expr, x plan.Lanes[T], fold func(o, x, y []T)) plan.Lanes[T] {
	i, height := c.slot(), e.Args[0].Shape[0]
	return func(w *plan.Frame, _, col, n int) []T {
		out := vector[T](w, i, n)
		copy(out, x(w, 0, col, n))
		for row := 1; row < height; row++ {
			fold(out, out, x(w, row, col, n))
		}
		return out
	}
}

// rowMax compiles the largest of each row; NaN if one is. Of magnitudes it is found without
// making them first, and of bfloat16 as it lies; of what is negated it is the smallest.
func (c *values) rowMax(e *tile.Expr) plan.Lanes[float32] {
	larger := func(a, b float32) float32 { return max(a, b) }
	if x := e.Args[0]; x.Op == tile.OpAbs {
		if largest := c.absMaxOfBits(x.Args[0]); largest != nil {
			return lanes(c, func(w *plan.Frame, row, _ int, out []float32) { out[0] = largest(w, row) })
		}
		return reduce(c, e, c.floats(x.Args[0]), c.plan.Loops.AbsMax, larger)
	}
	extremes := c.plan.Loops.Extremes
	if x := e.Args[0]; x.Op == tile.OpNeg {
		return reduce(c, e, c.floats(x.Args[0]), func(x []float32) float32 { lo, _ := extremes(x); return -lo }, larger)
	}
	return reduce(c, e, c.floats(e.Args[0]), c.plan.Exps.Largest, larger)
}

// absMaxOfBits is the largest magnitude of each row of x, if that is bfloat16 in
// memory; nil if it is not. What a block has beyond its array is zero.
func (c *values) absMaxOfBits(x *tile.Expr) one {
	ref := bits(x)
	if ref == nil {
		return nil
	}
	r, absMax := c.plan.Number(ref), c.plan.Loops.AbsMaxBFloat16
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row int) float32 {
		at := &w.Places[r]
		if row >= at.Rows || at.Cols == 0 {
			return 0
		}
		return absMax(elements[uint16](w, r, ld, row, 0, at.Cols))
	}
}

func plus[T number](a, b T) T { return a + b }

// total adds four sums, so that additions need not wait for one another.
func total(x []int32) int32 {
	var s [4]int32
	for len(x) >= 4 {
		s[0], s[1], s[2], s[3] = s[0]+x[0], s[1]+x[1], s[2]+x[2], s[3]+x[3]
		x = x[4:]
	}
	for _, v := range x {
		s[0] += v
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// concat compiles blocks one after another, along rows or columns.
func concat[T any](c *values, e *tile.Expr, compile func(*tile.Expr) plan.Lanes[T]) plan.Lanes[T] {
	parts, ends := make([]plan.Lanes[T], len(e.Args)), make([]int, len(e.Args))
	for i, x := range e.Args {
		parts[i], ends[i] = compile(x), x.Shape[e.Dim]
		if i > 0 {
			ends[i] += ends[i-1]
		}
	}
	if e.Dim != len(e.Shape)-1 {
		return func(w *plan.Frame, row, col, n int) []T {
			i, begin := 0, 0
			for row >= ends[i] {
				i, begin = i+1, ends[i]
			}
			return parts[i](w, row-begin, col, n)
		}
	}
	width := width(e)
	return lanes(c, func(w *plan.Frame, row, col int, out []T) {
		begin := 0
		if count := len(out) / width; count > 1 { // stacked
			for i, end := range ends {
				n := end - begin
				x := parts[i](w, row, 0, count*n)
				for j := range count {
					copy(out[j*width+begin:][:n], x[j*n:][:n])
				}
				begin = end
			}
			return
		}
		for i, end := range ends {
			if from, to := max(col, begin), min(col+len(out), end); from < to {
				copy(out[from-col:to-col], parts[i](w, row, from-begin, to-from))
			}
			begin = end
		}
	})
}
