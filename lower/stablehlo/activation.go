package stablehlo

import "matladder/problem"

// activation applies a to x, which is f32, or i32 for Relu alone.
func (t *text) activation(a problem.Activation, x value) (value, error) {
	typ := x.tensor
	switch a {
	case problem.NoActivation:
		return x, nil
	case problem.Relu:
		return t.op("maximum", x, t.constant(typ, 0)), nil
	case problem.Silu:
		return t.op("multiply", x, t.op("logistic", x)), nil
	case problem.Gelu:
		const invSqrt2 = 0.7071067811865476
		phi := t.op("add", t.erf(t.op("multiply", x, t.constant(typ, invSqrt2))), t.constant(typ, 1))
		return t.op("multiply", t.op("multiply", x, t.constant(typ, 0.5)), phi), nil
	}
	return x, errUnknownActivation
}
