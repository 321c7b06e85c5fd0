package stablehlo

import "matladder/problem"

// activation applies a to x, which is f32, or i32 for Relu alone.
func (t *text) activation(a problem.Activation, x value) (value, error) {
	typ := x.Type
	switch a {
	case problem.NoActivation:
		return x, nil
	case problem.Relu:
		return t.Apply("maximum", x, t.Constant(typ, 0)), nil
	case problem.Silu:
		return t.Apply("multiply", x, t.Apply("logistic", x)), nil
	case problem.Gelu:
		return t.Apply("multiply", x, t.normalCDF(x)), nil
	}
	return x, errUnknownActivation
}
