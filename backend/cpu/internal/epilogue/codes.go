package epilogue

import (
	"math"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
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

// toFloat8 returns what writes floats as codes of d, rounded to nearest even. A
// number beyond the largest becomes what Dtype.Round says.
func toFloat8(d tile.Dtype) func(o []uint8, x []float32) {
	mantissa := 3
	if d == tile.Float8E5M2 {
		mantissa = 2
	}
	bias := 1<<(6-mantissa) - 1 // 7 exponent and mantissa bits in all
	return func(o []uint8, x []float32) {
		for i := range o {
			o[i] = float8Code(d.Round(float64(x[i])), mantissa, bias)
		}
	}
}

// float8Code returns the code of v, a value of the format.
func float8Code(v float64, mantissa, bias int) uint8 {
	const sign, nan = 0x80, 0x7F
	var code uint8
	if math.Signbit(v) {
		code = sign
	}
	switch v = math.Abs(v); {
	case v != v:
		return code | nan
	case v == 0:
		return code
	case math.IsInf(v, 0):
		return code | uint8((1<<(7-mantissa)-1)<<mantissa)
	}
	fraction, exp := math.Frexp(v) // in [0.5, 1)
	exp += bias - 1
	if exp < 1 { // below the smallest normal number
		return code | uint8(math.Ldexp(fraction, exp+mantissa))
	}
	return code | uint8(exp<<mantissa) + uint8(math.Ldexp(2*fraction-1, mantissa))
}
