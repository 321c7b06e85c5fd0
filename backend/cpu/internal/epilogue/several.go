package epilogue

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Steps of one loop, whose operands lie in memory, do several rows in one call: rows of scores
// are short, and to begin takes as long as some of their elements.

// rowsAtOnce is up to how many rows one call does: numbers of so many rows are a vector.
const rowsAtOnce = 64

// matrix is some columns of some rows of a value where they lie, and how many elements those
// are apart; nil where they do not lie in one array.
type matrix func(w *plan.Frame, row, col, rows, n int) (x []float32, ld int)

// inMemory sees e as a matrix in memory; nil if it is to be computed first.
func (c *values) inMemory(e *tile.Expr) matrix {
	d := c.step.DotOf(e)
	switch {
	case e.Dtype != tile.Float32 || len(e.Shape) != 2:
	case d != nil:
		return func(w *plan.Frame, row, col, rows, n int) ([]float32, int) {
			return memory.View[float32](d.Temp.Of(w.Mem))[(row-w.Row)*d.LD+col-w.Col:][:(rows-1)*d.LD+n], d.LD
		}
	case e.Op == tile.OpLoad:
		r := c.plan.Number(e.Ref)
		ld := c.plan.Refs[r].LD
		return func(w *plan.Frame, row, col, rows, n int) ([]float32, int) {
			if at := &w.Places[r]; row+rows > at.Rows || col+n > at.Cols {
				return nil, 0
			}
			return elements[float32](w, r, ld, row, col, (rows-1)*ld+n), ld
		}
	}
	return nil
}

// storeRows compiles a store of v, of a float dtype, for several rows where one loop does it.
func (c *values) storeRows(v *tile.Expr, d tile.Dtype) {
	l := &c.plan.Loops
	switch {
	case c.step.Store == nil || c.step.StoreRows != nil || v.Dtype != tile.Float32:
		return
	case d == tile.BFloat16:
		if x := c.inMemory(v); x != nil {
			fromMemory(c, x, func(dst []uint16, ldd int, x []float32, ldx, rows, n int, _ *plan.Frame, _ int) {
				l.RowsToBFloat16(dst, ldd, x, ldx, rows, n)
			})
		}
	case d != tile.Float32:
	case v.Op == tile.OpMul:
		x, by := plan.Apart(v, tile.OpMul, func(e *tile.Expr) bool { return e.Op == tile.OpConst || plan.OneColumn(e) && plan.OneRow(e) })
		if by == nil {
			return
		}
		if x := c.inMemory(x); x != nil {
			factor := c.single(by)
			fromMemory(c, x, func(dst []float32, ldd int, x []float32, ldx, rows, n int, w *plan.Frame, row int) {
				l.RowsScale(dst, ldd, x, ldx, rows, n, factor(w, row))
			})
		}
	case v.Op == tile.OpExp, v.Op == tile.OpExp2:
		from, less := c.lessened(v)
		x := c.inMemory(from)
		if x == nil || less == nil {
			return
		}
		loop, numbers := c.plan.Exps.ExpRows, c.down(less)
		if v.Op == tile.OpExp2 {
			loop = c.plan.Exps.Exp2Rows
		}
		fromMemory(c, x, func(dst []float32, ldd int, x []float32, ldx, rows, n int, w *plan.Frame, row int) {
			loop(dst, ldd, x, ldx, numbers(w, row, 0, rows), n)
		})
	}
}

// fromMemory has the step's store go through a loop from x to its destination.
func fromMemory[D any](c *values, x matrix, loop func(dst []D, ldd int, x []float32, ldx, rows, n int, w *plan.Frame, row int)) {
	r := c.step.Dst
	ld := c.plan.Refs[r].LD
	c.step.AtOnce = rowsAtOnce
	c.step.StoreRows = c.orOneByOne(func(w *plan.Frame, row, col, rows, n int) bool {
		from, ldx := x(w, row, col, rows, n)
		if from == nil {
			return false
		}
		loop(elements[D](w, r, ld, row, col, (rows-1)*ld+n), ld, from, ldx, rows, n, w, row)
		return true
	})
}

// orOneByOne has rows stored one by one where several cannot be.
func (c *values) orOneByOne(several func(w *plan.Frame, row, col, rows, n int) bool) func(w *plan.Frame, row, col, rows, n int) {
	s := c.step
	return func(w *plan.Frame, row, col, rows, n int) {
		if several(w, row, col, rows, n) {
			return
		}
		for i := range rows {
			for from := 0; from < n; from += s.Lanes {
				s.Store(w, row+i, col+from, min(s.Lanes, n-from))
			}
		}
	}
}

// reduceDown compiles the sum or the largest of each row of what lies in memory, for some rows
// at once; nil if e is anything else.
func (c *values) reduceDown(e *tile.Expr) plan.Lanes[float32] {
	loop := map[tile.Op]func(dst, x []float32, ldx, n int){tile.OpReduceSum: c.plan.Exps.SumRows, tile.OpReduceMax: c.plan.Exps.LargestRows}[e.Op]
	if loop == nil || !plan.AlongRow(e) || width(e.Args[0]) > plan.VectorLanes {
		return nil
	}
	x := c.inMemory(e.Args[0])
	if x == nil || e.Args[0].Op != tile.OpLoad {
		return nil
	}
	ref, all, one := c.plan.Number(e.Args[0].Ref), width(e.Args[0]), c.single(e)
	return lanes(c, func(w *plan.Frame, row, _ int, out []float32) {
		from, to := w.Columns(ref, all)
		rows, ld := x(w, row, from, len(out), to-from)
		for l := range out {
			if rows == nil {
				out[l] = one(w, row+l)
			} else {
				w.Ask()
			}
		}
		if rows != nil {
			loop(out, rows, ld, to-from)
		}
	})
}
