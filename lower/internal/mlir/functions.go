package mlir

import (
	"math"

	"matladder/tile"
)

// Polynomial is a polynomial in x, the coefficient of the highest power first.
func (w *Exprs) Polynomial(x Value, coefficients ...float64) Value {
	sum := Number("f32", coefficients[0])
	for _, c := range coefficients[1:] {
		sum = w.Apply("arith.addf", w.Apply("arith.mulf", sum, x), Number("f32", c))
	}
	return sum
}

// logistic is 1 / (1 + e^-x).
func (w *Exprs) logistic(x Value) Value {
	one := Number("f32", 1)
	return w.Apply(w.Floats[tile.OpDiv], one, w.Apply("arith.addf", one, w.Apply("math.exp", w.Apply("arith.negf", x))))
}

// normalCDF is Φ(x). With t the size of x, Φ(-t)·e^(t²/2) is a polynomial in q = 1/(1 + 0.35t)
// times q (Lawson's fit of the relative error, 3.2e-8), so that Φ is right relative to itself
// also where it is small, but for the power: it is off by what t² is rounded by.
func (w *Exprs) normalCDF(x Value) Value {
	if n, known := x.Known(); known {
		return Number("f32", math.Erfc(-n/math.Sqrt2)/2)
	}
	one, mul := Number("f32", 1), func(x, y Value) Value { return w.Apply("arith.mulf", x, y) }
	t := w.Apply("math.absf", x)
	q := w.Apply(w.Floats[tile.OpDiv], one, w.Apply("arith.addf", mul(t, Number("f32", 0.35)), one))
	p := w.Polynomial(q, -0.0291638, 0.144060209, -0.255900681, 0.159391597, -0.023262974, 0.105574459, 0.119815581, 0.139864326, 0.139621258)
	power := w.Apply("math.exp", mul(mul(t, t), Number("f32", -0.5)))
	tail := mul(mul(p, q), power)
	return w.Choose(w.Compare(x, tile.LT, Number("f32", 0)), tail, w.Apply("arith.subf", one, tail))
}
