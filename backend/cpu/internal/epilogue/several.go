package epilogue

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/tile"
)

// A step that is one loop over operands in memory does several rows in one call: to begin a loop
// costs as much as some elements, and rows of scores are short. Nothing of it goes through
// vectors, so that rows may have any length.

// rowsAtOnce is the most rows of one call; the numbers that rows may have of their own are a
// vector.
const rowsAtOnce = plan.VectorLanes

// matrix finds columns col … col+n-1 of count rows of a value in memory; none if they are not
// all there.
type matrix[T any] func(w *plan.Frame, row, col, count, n int) rows.Matrix[T]

// columnsOf is the load of whose ref e is columns from start on, as they are or, of bfloat16, in
// float32; nil if e is anything else.
func columnsOf(e *tile.Expr) (load *tile.Expr, start int) {
	for {
		from, fixed := e.Index.(tile.Const)
		switch {
		case e.Op == tile.OpLoad:
			return e, start
		case e.Op == tile.OpCast && e.Dtype == tile.Float32 && e.Args[0].Dtype == tile.BFloat16:
		case e.Op == tile.OpSlice && fixed && e.Dim == len(e.Shape)-1:
			start += int(from)
		default:
			return nil, 0
		}
		e = e.Args[0]
	}
}

// inMemory sees e, a value whose elements are d in memory, as a matrix there; nil if it is to be
// computed first.
func inMemory[T any](c *values, e *tile.Expr, d tile.Dtype) matrix[T] {
	if of := c.step.DotOf(e); of != nil && e.Dtype == d && d != tile.BFloat16 {
		return func(w *plan.Frame, row, col, count, n int) rows.Matrix[T] {
			return rows.Matrix[T]{Of: memory.View[T](of.Temp.Of(w.Mem))[(row-w.Row)*of.LD+col-w.Col:][:(count-1)*of.LD+n], LD: of.LD}
		}
	}
	forAll := plan.OneRow(e) && !plan.OneColumn(e) // one row, which is repeated
	of := e
	if forAll {
		of = e.Args[0]
	}
	load, start := columnsOf(of)
	if load == nil || load.Dtype != d {
		return nil
	}
	r := c.plan.Number(load.Ref)
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, count, n int) rows.Matrix[T] {
		apart := ld
		if forAll {
			row, count, apart = 0, 1, 0
		}
		if at := &w.Places[r]; row+count > at.Rows || start+col+n > at.Cols {
			return rows.Matrix[T]{}
		}
		return rows.Matrix[T]{Of: elements[T](w, r, ld, row, start+col, (count-1)*ld+n), LD: apart}
	}
}

// storeRows compiles a store of v, an exponential of what lies in memory, for several rows.
func (c *values) storeRows(v *tile.Expr) {
	if v.Dtype != tile.Float32 || v.Op != tile.OpExp && v.Op != tile.OpExp2 {
		return
	}
	e, less := split(v)
	x := inMemory[float32](c, e, tile.Float32)
	if less == nil || x == nil {
		return
	}
	passes, loop, numbers := c.step.Passes, c.plan.Exps.ExpRows, c.down(less)
	if v.Op == tile.OpExp2 {
		loop = c.plan.Exps.Exp2Rows
	}
	c.step.Passes = passes // what was compiled once more is not gone over once more
	r := c.step.Dst
	ld := c.plan.Refs[r].LD
	s := c.step
	s.AtOnce = rowsAtOnce
	s.StoreRows = func(w *plan.Frame, row, col, count, n int) {
		w.Ask()
		if from := x(w, row, col, count, n); from.Of != nil {
			loop(elements[float32](w, r, ld, row, col, (count-1)*ld+n), ld, from.Of, from.LD, numbers(w, row, 0, count), n)
			return
		}
		for i := range count {
			for from := 0; from < n; from += s.Lanes {
				s.Store(w, row+i, col+from, min(s.Lanes, n-from))
			}
		}
	}
}

// reduceDown compiles the sum or the largest of each row of what lies in memory, for some rows
// at once; nil if e is anything else. Longer rows than a vector are summed in pieces, which is
// another order.
func (c *values) reduceDown(e *tile.Expr) plan.Lanes[float32] {
	if e.Op == tile.OpReduceSum {
		if x := c.sums(e); x != nil {
			return lanes(c, func(w *plan.Frame, row, _ int, out []float32) { x(w, row, out) })
		}
	}
	loop := map[tile.Op]func(dst, x []float32, ldx, n int){tile.OpReduceSum: c.plan.Exps.SumRows, tile.OpReduceMax: c.plan.Exps.LargestRows}[e.Op]
	if loop == nil || !plan.AlongRow(e) || e.Args[0].Op != tile.OpLoad || width(e.Args[0]) > plan.VectorLanes {
		return nil
	}
	x := inMemory[float32](c, e.Args[0], tile.Float32)
	if x == nil {
		return nil
	}
	ref, cols, one := c.plan.Number(e.Args[0].Ref), width(e.Args[0]), c.single(e)
	return lanes(c, func(w *plan.Frame, row, _ int, out []float32) {
		from, to := w.Columns(ref, cols)
		all := x(w, row, from, len(out), to-from)
		if all.Of == nil {
			for l := range out {
				out[l] = one(w, row+l)
			}
			return
		}
		for range out {
			w.Ask()
		}
		loop(out, all.Of, all.LD, to-from)
	})
}
