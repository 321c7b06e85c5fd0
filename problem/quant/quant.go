// Package quant turns matrices of real numbers into narrow ones with scales, and
// says how much was lost. It is the reference of what kernels do on the fly.
//
//  1. Fit finds the scale, and the zero point if there is one, of a group of
//     elements from its smallest and largest.
//  2. Step.Quantize rounds one element, Step.Real gives back what it stands for.
//  3. Fits finds the steps of a matrix, in groups of a tensor, a column, a row or
//     a block of either.
//  4. Sum gathers how far what was computed is from what was meant.
//
// Arithmetic is float32, operation by operation, in an order that a tile program
// can follow to the bit:
//
//	symmetric    scale = max(absmax · (1/top), 2^-126)   q = x · (1/scale)
//	asymmetric   scale = max((hi - lo) · (1/255), 2^-126), lo ≤ 0 ≤ hi
//	             zero = bottom - round(lo · (1/scale))   q = round(x · (1/scale)) + zero
//	e8m0         scale = 2^floor(log2(max(absmax · 2^-emax, 2^-126))): the rule of OCP's
//	             specification, by which absmax may saturate
//	e8m0_up      scale = 2^ceil(log2(max(absmax · (1/top), 2^-126))): nothing saturates
//	e4m3         scale = all · s, s = absmax · (1/top) · (1/all) in float8_e4m3fn from 2^-6 on,
//	             all = max(absmax of the operand · (1/top) · (1/448), 2^-120)
//
// q is rounded to the nearest code, halves to the even one, and saturates. top
// is the largest code (7 of int4, 127 of int8, 448 and 57344 of float8, 6 of float4), 2^emax
// the power of two below, bottom the smallest (-8, -128); 255 is 15 for int4. From this follows:
//
//   - A group of zeros has codes that stand for exactly 0 and the scale 2^-126,
//     the smallest that any group has.
//   - A group of equal elements has the code top or -top everywhere; asymmetric,
//     one end of the range, and 0 is the other.
//   - A group with a NaN has the scale NaN, one with an infinity (or whose
//     extremes are further apart than float32 reaches) the scale +Inf. Whatever
//     the codes are, a code that is the zero point stands for NaN, any other for
//     NaN or an infinity: the damage is not hidden. Codes of infinite and NaN
//     elements are 0, or NaN in float8.
//   - Numbers that are not normal count as any other. XLA on a CPU takes them for
//     0: a group of nothing else has the scale 2^-126 all the same.
//
// The package calibrates nothing: scales come from the extremes of the data it is given.
// quanttest quantizes whole matrices with it.
package quant

import (
	"math"

	"matladder/tile"
)

// Smallest is the smallest scale: that of a group of zeros.
const Smallest = 0x1p-126

// Step is what the codes of one group stand for: Scale·(code - Zero).
type Step struct {
	Scale  float32
	Zero   int32
	Dtype  tile.Dtype
	Stored float32 // Scale as an array of scales has it, without the scale of all
}

// top is the largest magnitude that the symmetric codes of d have.
func top(d tile.Dtype) float64 {
	_, hi := d.Range()
	return hi
}

// Fit returns the step of a group whose elements lie between lo and hi; either
// is NaN if an element is. d is int8, int4, or, symmetric, a float8 or float4_e2m1fn.
func Fit(lo, hi float32, d tile.Dtype, g Grouping) Step {
	if !g.Asymmetric {
		stored := g.stored(max(-lo, hi), top(d))
		return Step{Scale: stored * g.all(), Dtype: d, Stored: stored}
	}
	bottom, top := d.Range()
	lo, hi = min(lo, 0), max(hi, 0)
	s := Step{Scale: floor((hi - lo) * float32(1/(top-bottom))), Dtype: d}
	s.Zero = int32(d.Round(float64(float32(bottom) - roundEven(lo*s.inverse()))))
	s.Stored = s.Scale
	return s
}

// stored is the scale of a group as it is in memory.
func (g Grouping) stored(absmax float32, top float64) float32 {
	switch {
	case g.Scales == tile.Float8E4M3FN:
		const least = 0x1p-6 // of normal numbers
		s := absmax * float32(1/top) * (1 / g.all())
		return float32(saturated(max(s, least), g.Scales))
	case g.Scales != tile.Float8E8M0FNU:
		return floor(absmax * float32(1/top))
	case g.Up:
		return power(floor(absmax*float32(1/top)), true)
	}
	return power(floor(absmax*float32(math.Ldexp(1, -math.Ilogb(top)))), false)
}

// power is the power of two below x, or above; NaN of what is not finite.
func power(x float32, up bool) float32 {
	near := float32(tile.Float8E8M0FNU.Round(float64(x)))
	switch {
	case up && near < x:
		return 2 * near
	case !up && near > x:
		return near / 2
	}
	return near
}

func (g Grouping) all() float32 {
	if g.Scales != tile.Float8E4M3FN {
		return 1
	}
	return g.All
}

// ScaleOfAll is the scale of a whole operand whose largest magnitude is absmax, in codes of d,
// beside scales of its groups in float8_e4m3fn.
func ScaleOfAll(absmax float32, d tile.Dtype) float32 {
	return max(absmax*float32(1/top(d))*float32(1/top(tile.Float8E4M3FN)), 0x1p-120)
}

// floor keeps scales normal, so that their inverses are finite. A NaN passes.
func floor(scale float32) float32 { return max(scale, Smallest) }

func (s Step) inverse() float32 { return 1 / s.Scale }

func roundEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// Quantize returns the code of x.
func (s Step) Quantize(x float32) float64 { return s.round(x * s.inverse()) }

// round is Quantize of x divided by the scale.
func (s Step) round(x float32) float64 {
	if s.Dtype.IsFloat() {
		return saturated(x, s.Dtype)
	}
	return s.Dtype.Round(float64(roundEven(x) + float32(s.Zero)))
}

// saturated rounds x to a float8; beyond the largest number it stays there.
func saturated(x float32, d tile.Dtype) float64 {
	lo, hi := d.Range()
	if x != x {
		return math.NaN()
	}
	return d.Round(max(lo, min(hi, float64(x))))
}

// Real is what a code stands for.
func (s Step) Real(code float64) float64 { return float64(s.Scale) * (code - float64(s.Zero)) }

// Extremes returns the smallest and the largest of xs, both NaN if one of them
// is; +Inf and -Inf of none.
func Extremes(xs []float32) (lo, hi float32) {
	lo, hi = float32(math.Inf(1)), float32(math.Inf(-1))
	for _, x := range xs {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}
