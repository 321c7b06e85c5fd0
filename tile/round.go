package tile

import "math"

// floatFormat describes a binary floating-point type narrower than float64.
type floatFormat struct {
	mantissa int     // stored mantissa bits
	minExp   int     // exponent of the smallest normal number
	max      float64 // largest finite number
	infinity bool    // whether overflow becomes infinity (else NaN)
}

// Formats of float8 follow the OCP 8-bit floating point specification (OFP8), float4 and
// float8_e8m0fnu the OCP Microscaling specification 1.0.
var floatFormats = [...]floatFormat{
	Float32:       {23, -126, math.MaxFloat32, true},
	BFloat16:      {7, -126, 0x1.FEp127, true},
	Float8E4M3FN:  {3, -6, 448, false},
	Float8E5M2:    {2, -14, 57344, true},
	Int4:          {}, // and all other integers
	Float16:       {10, -14, 65504, true},
	Float4E2M1FN:  {1, 0, 6, false},
	Float8E8M0FNU: {0, -127, 0x1p127, false},
}

// Epsilon returns the unit roundoff of a float dtype: the largest relative
// error of one rounding to nearest; 0 for integers.
func (d Dtype) Epsilon() float64 {
	f := floatFormats[d]
	if f == (floatFormat{}) {
		return 0
	}
	return math.Ldexp(1, -f.mantissa-1)
}

// SmallestNormal returns the smallest positive normal number of a float dtype, below which
// precision is absolute and hardware may flush to zero; 0 for integers.
func (d Dtype) SmallestNormal() float64 {
	f := floatFormats[d]
	if f == (floatFormat{}) {
		return 0
	}
	return math.Ldexp(1, f.minExp)
}

// Unknown is what padding holds, and memory never written: a value that spoils whatever it
// gets into.
func (d Dtype) Unknown() float64 {
	if d.IsInteger() {
		lo, _ := d.Range()
		return lo
	}
	return math.NaN()
}

// Range returns the smallest and largest finite value of d.
func (d Dtype) Range() (lo, hi float64) {
	switch d {
	case Bool:
		return 0, 1
	case Int32:
		return math.MinInt32, math.MaxInt32
	case Int8:
		return math.MinInt8, math.MaxInt8
	case Uint8:
		return 0, math.MaxUint8
	case Int4:
		return -8, 7
	}
	f := floatFormats[d]
	if d == Float8E8M0FNU {
		return 0x1p-127, f.max
	}
	return -f.max, f.max
}

// Round returns the value of d nearest to x: ties to even; floats overflow to infinity
// (float8_e4m3fn, which has none, to NaN); integers round to nearest even and then saturate, NaN
// becoming 0, as XLA's convert does. float4_e2m1fn has neither: it saturates, and NaN becomes a
// zero of the other sign; float8_e8m0fnu rounds ties up, and what has no logarithm is NaN; both as
// ml_dtypes. Narrowing int32 arithmetic wraps and is not this function's business.
func (d Dtype) Round(x float64) float64 {
	if d == Float32 {
		return float64(float32(x))
	}
	switch f := &floatFormats[d]; {
	case d == Float4E2M1FN && x != x:
		return math.Copysign(0, -math.Copysign(1, x))
	case d == Float4E2M1FN:
		return f.round(max(-f.max, min(f.max, x)))
	case d == Float8E8M0FNU:
		return powerOfTwo(x)
	case f.mantissa > 0:
		return f.round(x)
	}
	if x != x {
		return 0
	}
	lo, hi := d.Range()
	return max(lo, min(hi, math.RoundToEven(x)))
}

// powerOfTwo is the power of two nearest to x, from 2^-127 to 2^127.
func powerOfTwo(x float64) float64 {
	part, exp := math.Frexp(x) // 0.5 ≤ part < 1
	if part < 0.75 {
		exp--
	}
	if !(x > 0) || exp > 127 || math.IsInf(x, 0) {
		return math.NaN()
	}
	return math.Ldexp(1, max(exp, -127))
}

func (f *floatFormat) round(x float64) float64 {
	const sign, mantissa, bias = 1 << 63, 52, 1023 // of a float64
	bits := math.Float64bits(x)
	size := bits &^ sign
	var r float64
	if drop := mantissa - f.mantissa; size >= uint64(bias+f.minExp)<<mantissa {
		// Half of what is dropped, less one if the kept part is even, carries into the exponent
		// where it must.
		size += 1<<(drop-1) - 1 + size>>drop&1
		r = math.Float64frombits(size >> drop << drop)
	} else {
		// The sum has the last bit of a number below the smallest normal one.
		far := math.Float64frombits(uint64(bias+f.minExp+drop) << mantissa)
		r = (math.Float64frombits(size) + far) - far
	}
	switch {
	case x != x, math.IsInf(x, 0) && f.infinity:
		return x
	case r > f.max && !f.infinity:
		return math.NaN()
	case r > f.max:
		r = math.Inf(1)
	}
	return math.Float64frombits(math.Float64bits(r) | bits&sign)
}
