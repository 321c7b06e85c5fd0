package epilogue

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// into computes elements col … col+len(out)-1 of a row into out.
type into[T any] func(w *plan.Frame, row, col int, out []T)

// lanes has x in a vector, where its value goes on to something else.
func lanes[T any](c *values, x into[T]) plan.Lanes[T] {
	i := c.slot()
	return func(w *plan.Frame, row, col, n int) []T {
		out := vector[T](w, i, n)
		x(w, row, col, out)
		return out
	}
}

// written has x where the rows of the destination are.
func written[T any](c *values, x into[T]) plan.Writer {
	r := c.step.Dst
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, n int) { x(w, row, col, elements[T](w, r, ld, row, col, n)) }
}

// into compiles e if it has a loop that takes one number for all of a row: e^x or 2^x of a
// difference to it, as a softmax subtracts the row's largest; or if it chooses by spans of rows; nil
// if it is none of these.
func (c *values) into(e *tile.Expr) into[float32] {
	if e.Dtype != tile.Float32 {
		return nil
	}
	switch e.Op {
	case tile.OpExp, tile.OpExp2:
		return c.exponential(e)
	case tile.OpSelect:
		return c.chosen(e)
	}
	return nil
}

// uniform reports whether all elements of a row of e are one number.
func uniform(e *tile.Expr) bool { return e.Op == tile.OpConst || plan.OneColumn(e) }

// exponentials returns the loop of e^x or 2^x.
func (c *values) exponentials(op tile.Op) func(dst, x []float32, less float32) {
	if op == tile.OpExp2 {
		return c.plan.Exps.Exp2
	}
	return c.plan.Exps.Exp
}

// split takes e, e^x or 2^x, apart: x, and the number of the row that is taken from it, nil for
// none.
func split(e *tile.Expr) (x, less *tile.Expr) {
	if x := e.Args[0]; x.Op == tile.OpSub && x.Dtype == tile.Float32 && plan.OneColumn(x.Args[1]) {
		return x.Args[0], x.Args[1]
	}
	return e.Args[0], nil
}

// exponential compiles e^x or 2^x.
func (c *values) exponential(e *tile.Expr) into[float32] {
	loop, by := c.exponentials(e.Op), constant(0)
	x, less := split(e)
	if less != nil {
		by = c.single(less)
	}
	from := c.floats(x)
	return func(w *plan.Frame, row, col int, out []float32) {
		v := from(w, row, col, len(out))
		loop(out, v, by(w, row))
	}
}
