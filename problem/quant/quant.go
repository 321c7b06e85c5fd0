// Package quant turns matrices of real numbers into narrow ones with scales, and
// says how much was lost. It is the reference of what kernels do on the fly.
//
//  1. Fit finds the scale, and the zero point if there is one, of a group of
//     elements from its smallest and largest.
//  2. Step.Quantize rounds one element, Step.Real gives back what it stands for.
//  3. Quantize does both to a matrix, in groups of a tensor, a column, a row or
//     a block of either; Matrix has the codes, scales and zero points.
//  4. Measure compares what was computed with what was meant.
//
// Arithmetic is float32, operation by operation, in an order that a tile program
// can follow to the bit:
//
//	symmetric    scale = max(absmax · (1/top), 2^-126)   q = x · (1/scale)
//	asymmetric   scale = max((hi - lo) · (1/255), 2^-126), lo ≤ 0 ≤ hi
//	             zero = bottom - round(lo · (1/scale))   q = round(x · (1/scale)) + zero
//
// q is rounded to the nearest code, halves to the even one, and saturates. top
// is the largest code (7 of int4, 127 of int8, 448 and 57344 of float8), bottom
// the smallest (-8, -128); 255 is 15 for int4. From this follows:
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
// The package refuses groups that are no such shapes, and calibrates nothing:
// scales come from the extremes of the data it is given.
package quant

import (
	"fmt"
	"math"

	"matladder/tile"
)

// Smallest is the smallest scale: that of a group of zeros.
const Smallest = 0x1p-126

// Step is what the codes of one group stand for: Scale·(code - Zero).
type Step struct {
	Scale float32
	Zero  int32
	Dtype tile.Dtype
}

// top is the largest magnitude that the symmetric codes of d have.
func top(d tile.Dtype) float64 {
	_, hi := d.Range()
	return hi
}

// supports returns why d has no codes, or nil; asymmetric ones are integers.
func supports(d tile.Dtype, asymmetric bool) error {
	switch d {
	case tile.Int8, tile.Int4:
		return nil
	case tile.Float8E4M3FN, tile.Float8E5M2:
		if asymmetric {
			return fmt.Errorf("quant: %s has no zero point", d)
		}
		return nil
	}
	return fmt.Errorf("quant: no codes in %s (int8, int4, float8_e4m3fn and float8_e5m2 have)", d)
}

// Fit returns the step of a group whose elements lie between lo and hi; either
// is NaN if an element is. d is a dtype that Supports.
func Fit(lo, hi float32, d tile.Dtype, asymmetric bool) Step {
	if !asymmetric {
		return Step{Scale: floor(max(-lo, hi) * float32(1/top(d))), Dtype: d}
	}
	bottom, top := d.Range()
	lo, hi = min(lo, 0), max(hi, 0)
	s := Step{Scale: floor((hi - lo) * float32(1/(top-bottom))), Dtype: d}
	s.Zero = int32(d.Round(float64(float32(bottom) - roundEven(lo*s.inverse()))))
	return s
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
