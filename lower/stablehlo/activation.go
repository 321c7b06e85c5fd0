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
		return t.op("multiply", x, t.normalCDF(x)), nil
	}
	return x, errUnknownActivation
}
