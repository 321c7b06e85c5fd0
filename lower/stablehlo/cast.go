package stablehlo

import "matladder/tile"

// cast converts x, the working value of dtype from, to the working value of to:
// floats round to nearest even, integers saturate, NaN becomes integer 0.
func (t *text) cast(x value, from, to tile.Dtype) value {
	switch {
	case from == to:
		return x
	case from == tile.Bool:
		return t.as(x, working(to).elem)
	case to == tile.Bool:
		n := t.cast(x, from, tile.Int32)
		return t.compare("GT", n, t.constant(n.tensor, 0))
	case to.IsFloat() && from.IsFloat():
		return t.rounded(x, to)
	case to.IsFloat():
		if to == tile.BFloat16 && from == tile.Int32 {
			x = t.sticky(x)
		}
		return t.rounded(t.as(x, "f32"), to)
	case from.IsFloat():
		return t.toInteger(x, to)
	}
	lo, hi := to.Range()
	if from, top := from.Range(); lo <= from && top <= hi {
		return x
	}
	return t.define(x.tensor, "clamp %s, %s, %s : %s", t.constant(x.tensor, lo).name, x.name, t.constant(x.tensor, hi).name, x.tensor)
}

// output is cast from a working value to an array of to that a plugin gives
// back. Between floats it is the device's own conversion.
func (t *text) output(x value, from, to tile.Dtype) value {
	if !from.IsFloat() || !to.IsFloat() {
		x = t.cast(x, from, to)
	}
	return t.as(x, storage[to])
}

// sticky makes a large i32 a number that f32 holds and that rounds to the same
// bfloat16: all that is lost below is one bit that says whether anything was.
// Converting to f32 first would round twice.
func (t *text) sticky(x value) value {
	const low = 1<<9 - 1
	typ := x.tensor
	lost := t.compare("NE", t.op("and", x, t.constant(typ, low)), t.constant(typ, 0))
	bit := t.choose(lost, t.constant(typ, (low+1)/2), t.constant(typ, 0))
	y := t.op("or", t.op("and", x, t.constant(typ, ^low)), bit)
	exact := t.define(typ.of("i1"), "and %s, %s : %s",
		t.compare("LT", x, t.constant(typ, 1<<24)).name, t.compare("GT", x, t.constant(typ, -1<<24)).name, typ.of("i1"))
	return t.choose(exact, x, y)
}

// toInteger rounds a float to nearest even and saturates. The largest int32 is
// no f32, so that the end of the range needs a comparison.
func (t *text) toInteger(x value, to tile.Dtype) value {
	typ := x.tensor
	x = t.choose(t.compare("EQ", x, x), x, t.constant(typ, 0))
	x = t.op("round_nearest_even", x)
	lo, hi := to.Range()
	top := min(hi, 1<<31-128)
	y := t.define(typ, "clamp %s, %s, %s : %s", t.constant(typ, lo).name, x.name, t.constant(typ, top).name, typ)
	n := t.as(y, "i32")
	if to != tile.Int32 {
		return n
	}
	return t.choose(t.compare("GE", x, t.constant(typ, 1<<31)), t.constant(n.tensor, hi), n)
}

// rounded rounds an f32 to the values of d. Converting to d and back would not
// do: compilers are free to take such a pair away.
func (t *text) rounded(x value, d tile.Dtype) value {
	switch d {
	case tile.BFloat16:
		return t.define(x.tensor, "reduce_precision %s, format = e8m7 : %s", x.name, x.tensor)
	case tile.Float8E4M3FN:
		return t.roundedFloat8(x, 3, -6, 448, 0x7FC00000)
	case tile.Float8E5M2:
		return t.roundedFloat8(x, 2, -14, 57344, 0x7F800000)
	}
	return x
}

// roundedFloat8 rounds to a multiple of the distance between neighbours, which
// is a power of two made from x's own exponent; beyond the largest number comes
// what has the bits over.
func (t *text) roundedFloat8(x value, mantissa, minExp int, largest float64, over int) value {
	f, i := x.tensor, x.of("i32")
	bits := t.define(i, "bitcast_convert %s : (%s) -> %s", x.name, f, i)
	exponent := t.op("and", t.op("shift_right_logical", bits, t.constant(i, 23)), t.constant(i, 0xFF))
	exponent = t.op("maximum", exponent, t.constant(i, float64(minExp+127)))
	// Infinity and NaN have no neighbours; any distance leaves them as they are.
	exponent = t.op("minimum", exponent, t.constant(i, 254))
	step := t.op("shift_left", t.op("subtract", exponent, t.constant(i, float64(mantissa))), t.constant(i, 23))
	distance := t.define(f, "bitcast_convert %s : (%s) -> %s", step.name, i, f)
	y := t.op("multiply", t.op("round_nearest_even", t.op("divide", x, distance)), distance)
	beyond := t.compare("GT", t.op("abs", y), t.constant(f, largest))
	limit := t.op("or", t.op("and", bits, t.constant(i, -1<<31)), t.constant(i, float64(over)))
	return t.choose(beyond, t.define(f, "bitcast_convert %s : (%s) -> %s", limit.name, i, f), y)
}

// wrapped keeps the bits of an i32 that integer type d has.
func (t *text) wrapped(x value, d tile.Dtype) value {
	typ := x.tensor
	switch d {
	case tile.Uint8:
		return t.op("and", x, t.constant(typ, 0xFF))
	case tile.Int8, tile.Int4:
		by := t.constant(typ, float64(32-d.Bits()))
		return t.op("shift_right_arithmetic", t.op("shift_left", x, by), by)
	}
	return x
}
