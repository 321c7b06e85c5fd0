package cpu

import "matladder/tile"

// exponential compiles e^x or 2^x. What is subtracted from all of a row goes along: a
// softmax subtracts the row's largest.
func (c *values) exponential(e *tile.Expr) lanes[float32] {
	loop := c.plan.exps.Exp
	if e.Op == tile.OpExp2 {
		loop = c.plan.exps.Exp2
	}
	i, x := c.slot(), e.Args[0]
	if x.Op == tile.OpSub && x.Dtype == tile.Float32 && oneColumn(x.Args[1]) {
		from, less := c.floats(x.Args[0]), c.single(x.Args[1])
		return func(w *worker, row, col, n int) []float32 {
			v := from(w, row, col, n)
			out := vector[float32](w, i, n)
			loop(out, v, less(w, row))
			return out
		}
	}
	return apply(i, c.floats(x), func(o, x []float32) { loop(o, x, 0) })
}
