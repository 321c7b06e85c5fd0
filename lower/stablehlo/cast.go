package stablehlo

import (
	"math"

	"matladder/tile"
)

// cast converts x, the working value of dtype from, to the working value of to:
// floats round to nearest even, integers saturate, NaN becomes integer 0.
func (t *text) cast(x value, from, to tile.Dtype) value {
	switch {
	case from == to:
		return x
	case from == tile.Bool:
		return t.As(x, working(to).Elem)
	case to == tile.Bool:
		n := t.cast(x, from, tile.Int32)
		return t.compare("GT", n, t.Constant(n.Type, 0))
	case to.IsFloat() && from.IsFloat():
		return t.rounded(x, to)
	case to.IsFloat():
		if to == tile.BFloat16 && from == tile.Int32 {
			x = t.sticky(x)
		}
		return t.rounded(t.As(x, "f32"), to)
	case from.IsFloat():
		return t.toInteger(x, to)
	}
	lo, hi := to.Range()
	if from, top := from.Range(); lo <= from && top <= hi {
		return x
	}
	return t.clamp(lo, x, hi)
}

// output is cast from a working value to an array of to that a plugin gives
// back. Between floats it is the device's own conversion.
func (t *text) output(x value, from, to tile.Dtype) value {
	if !from.IsFloat() || !to.IsFloat() {
		x = t.cast(x, from, to)
	}
	return t.As(x, storage(to))
}

// sticky makes a large i32 a number that f32 holds and that rounds to the same
// bfloat16: all that is lost below is one bit that says whether anything was.
// Converting to f32 first would round twice.
func (t *text) sticky(x value) value {
	const low = 1<<9 - 1
	typ := x.Type
	lost := t.compare("NE", t.Apply("and", x, t.Constant(typ, low)), t.Constant(typ, 0))
	bit := t.choose(lost, t.Constant(typ, (low+1)/2), t.Constant(typ, 0))
	y := t.Apply("or", t.Apply("and", x, t.Constant(typ, ^low)), bit)
	exact := t.Apply("and", t.compare("LT", x, t.Constant(typ, 1<<24)), t.compare("GT", x, t.Constant(typ, -1<<24)))
	return t.choose(exact, x, y)
}

// toInteger rounds a float to nearest even and saturates. The largest int32 is
// no f32, so that the end of the range needs a comparison.
func (t *text) toInteger(x value, to tile.Dtype) value {
	typ := x.Type
	x = t.choose(t.compare("EQ", x, x), x, t.Constant(typ, 0))
	x = t.Apply("round_nearest_even", x)
	lo, hi := to.Range()
	top := min(hi, 1<<31-128)
	y := t.clamp(lo, x, top)
	n := t.As(y, "i32")
	if to != tile.Int32 {
		return n
	}
	return t.choose(t.compare("GE", x, t.Constant(typ, 1<<31)), t.Constant(n.Type, hi), n)
}

// rounded rounds an f32 to the values of d. Converting to d and back would not
// do: compilers are free to take such a pair away.
func (t *text) rounded(x value, d tile.Dtype) value {
	switch d {
	case tile.BFloat16:
		return t.Op(x.Type, "reduce_precision", "format = e8m7", x)
	case tile.Float16:
		return t.Op(x.Type, "reduce_precision", "format = e5m10", x)
	case tile.Float4E2M1FN:
		return t.roundedNarrow(t.clamp(-6, x, 6), 1, 0, 6, 0)
	case tile.Float8E8M0FNU:
		return t.powerOfTwo(x)
	case tile.Float8E4M3FN:
		return t.roundedNarrow(x, 3, -6, 448, 0x7FC00000)
	case tile.Float8E5M2:
		return t.roundedNarrow(x, 2, -14, 57344, 0x7F800000)
	}
	return x
}

// powerOfTwo rounds to the nearest power of two, ties up; what has no logarithm is NaN.
func (t *text) powerOfTwo(x value) value {
	i := x.Of("i32")
	bits := t.Apply("add", t.Op(i, "bitcast_convert", "", x), t.Constant(i, 1<<22))
	y := t.Op(x.Type, "bitcast_convert", "", t.Apply("and", bits, t.Constant(i, 0x7F800000)))
	has := t.Apply("and", t.compare("GT", x, t.Constant(x.Type, 0)), t.compare("LT", x, t.Constant(x.Type, 0x1.8p127)))
	return t.choose(has, y, t.Constant(x.Type, math.NaN()))
}

// roundedNarrow rounds to a multiple of the distance between neighbours, which
// is a power of two made from x's own exponent; beyond the largest number comes
// what has the bits over.
func (t *text) roundedNarrow(x value, mantissa, minExp int, largest float64, over int) value {
	f, i := x.Type, x.Of("i32")
	bits := t.Op(i, "bitcast_convert", "", x)
	exponent := t.Apply("and", t.Apply("shift_right_logical", bits, t.Constant(i, 23)), t.Constant(i, 0xFF))
	exponent = t.Apply("maximum", exponent, t.Constant(i, float64(minExp+127)))
	// Infinity and NaN have no neighbours; any distance leaves them as they are.
	exponent = t.Apply("minimum", exponent, t.Constant(i, 254))
	step := t.Apply("shift_left", t.Apply("subtract", exponent, t.Constant(i, float64(mantissa))), t.Constant(i, 23))
	distance := t.Op(f, "bitcast_convert", "", step)
	y := t.Apply("multiply", t.Apply("round_nearest_even", t.Apply("divide", x, distance)), distance)
	beyond := t.compare("GT", t.Apply("abs", y), t.Constant(f, largest))
	limit := t.Apply("or", t.Apply("and", bits, t.Constant(i, -1<<31)), t.Constant(i, float64(over)))
	return t.choose(beyond, t.Op(f, "bitcast_convert", "", limit), y)
}

// wrapped keeps the bits of an i32 that integer type d has.
func (t *text) wrapped(x value, d tile.Dtype) value {
	typ := x.Type
	switch d {
	case tile.Uint8:
		return t.Apply("and", x, t.Constant(typ, 0xFF))
	case tile.Int8, tile.Int4:
		by := t.Constant(typ, float64(32-d.Bits()))
		return t.Apply("shift_right_arithmetic", t.Apply("shift_left", x, by), by)
	}
	return x
}
