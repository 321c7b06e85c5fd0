package epilogue

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/internal/float16"
	"matladder/tile"
)

// codes compiles a store of v, of floats, as int8. Where v is what has been
// multiplied by one number for each row, and perhaps rounded and moved by another,
// one loop does all of it, and reads bfloat16 as it lies.
func (c *values) codes(v *tile.Expr) plan.Writer {
	by, zero := constant(1), constant(0)
	if x, z := plan.Apart(v, tile.OpAdd, plan.OneColumn); z != nil && x.Op == tile.OpRoundEven {
		v, zero = x.Args[0], c.single(z)
	}
	if x, f := plan.Apart(v, tile.OpMul, plan.OneColumn); f != nil {
		v, by = x, c.single(f)
	}
	if r := bits(v); r != nil {
		return c.codesOfBits(c.plan.Number(r), by, zero)
	}
	x, toInt8 := c.floats(v), c.plan.Loops.ToInt8
	return written(c, func(w *plan.Frame, row, col int, out []int8) {
		toInt8(out, x(w, row, col, len(out)), by(w, row), zero(w, row))
	})
}

// codesOfBits writes codes of ref x; what its block has beyond the array is zero.
// It needs no row vectors, so the step does whole rows.
func (c *values) codesOfBits(x int, by, zero one) plan.Writer {
	ld, toInt8 := c.plan.Refs[x].LD, c.plan.Loops.BFloat16ToInt8
	c.step.Lanes = max(c.step.Lanes, c.plan.Refs[c.step.Dst].Cols)
	ahead := max(c.step.Strip, 1) * ld
	return written(c, func(w *plan.Frame, row, col int, out []int8) {
		src, have := &w.Places[x], 0
		f, z := by(w, row), zero(w, row)
		if row < src.Rows && col < src.Cols {
			have = min(src.Cols-col, len(out))
			toInt8(out[:have], elements[uint16](w, x, ld, row, col, have), f, z, ahead)
		}
		if have < len(out) {
			memory.Fill(out[have:], rows.Code(0, f, z))
		}
	})
}

// bits is the ref of which e is the elements, stored as bfloat16; nil if e is something else.
func bits(e *tile.Expr) *tile.Ref {
	if e.Op == tile.OpCast && e.Dtype == tile.Float32 {
		e = e.Args[0]
	}
	if e.Op != tile.OpLoad || e.Dtype != tile.BFloat16 {
		return nil
	}
	return e.Ref
}

// fromCodes returns what reads codes of d, of 8 bits, as floats.
func fromCodes(d tile.Dtype) func(o []float32, x []uint8) {
	var table [256]float32
	for c := range table {
		table[c] = float32(d.Value(byte(c)))
	}
	return each(func(c uint8) float32 { return table[c] })
}

// toFloat16 and fromFloat16 write and read float16.
var toFloat16, fromFloat16 = each(float16.Round), each(float16.Widen)
