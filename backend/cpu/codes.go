package cpu

import (
	"matladder/backend/cpu/internal/rows"
	"matladder/tile"
)

// codes compiles a store of v, of floats, as int8. Where v is what has been
// multiplied by one number for each row, and perhaps rounded and moved by another,
// one loop does all of it, and reads bfloat16 as it lies.
func (c *values) codes(v *tile.Expr) writer {
	by, zero := constant(1), constant(0)
	if x, z := apart(v, tile.OpAdd, oneColumn); z != nil && x.Op == tile.OpRoundEven {
		v, zero = x.Args[0], c.single(z)
	}
	if x, f := apart(v, tile.OpMul, oneColumn); f != nil {
		v, by = x, c.single(f)
	}
	if r := bits(v); r != nil {
		return c.codesOfBits(c.plan.ref(r), by, zero)
	}
	x, r, ld, toInt8 := c.floats(v), c.step.dst, c.plan.refs[c.step.dst].ld, c.plan.loops.ToInt8
	return func(w *frame, row, col, n int) {
		at := &w.places[r]
		toInt8(view[int8](w.data[r])[at.off+row*ld+col:][:n], x(w, row, col, n), by(w, row), zero(w, row))
	}
}

// codesOfBits writes codes of ref x; what its block has beyond the array is zero.
// It needs no row vectors, so the step does whole rows.
func (c *values) codesOfBits(x int, by, zero one) writer {
	dst, toInt8 := c.step.dst, c.plan.loops.BFloat16ToInt8
	ld, from := c.plan.refs[dst].ld, c.plan.refs[x].ld
	c.step.lanes = max(c.step.lanes, c.plan.refs[dst].cols)
	ahead := max(c.step.strip, 1) * from
	return func(w *frame, row, col, n int) {
		at, src, have := &w.places[dst], &w.places[x], 0
		out := view[int8](w.data[dst])[at.off+row*ld+col:][:n]
		f, z := by(w, row), zero(w, row)
		if row < src.rows && col < src.cols {
			have = min(src.cols-col, n)
			toInt8(out[:have], view[uint16](w.data[x])[src.off+row*from+col:][:have], f, z, ahead)
		}
		if have < n {
			fill(out[have:], rows.Code(0, f, z))
		}
	}
}

// bits is the ref of which e is the elements, stored as bfloat16; nil if e is
// something else.
func bits(e *tile.Expr) *tile.Ref {
	if e.Op == tile.OpCast && e.Dtype == tile.Float32 {
		e = e.Args[0]
	}
	if e.Op != tile.OpLoad || e.Dtype != tile.BFloat16 {
		return nil
	}
	return e.Ref
}
