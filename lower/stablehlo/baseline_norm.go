package stablehlo

import (
	"matladder/problem"
	"matladder/tile"
)

// norm is o of x, the residual and the weights, row by row in float32, and the sum of x and
// the residual.
func norm(t *text, p problem.Norm, in map[string]value) ([]value, error) {
	shape, column := []int{p.Rows, p.Cols}, []int{p.Rows, 1}
	mean := func(x value) value {
		sum := t.reduce("add", x, 0, []int{1}, column)
		return t.Apply("divide", sum, t.Constant(sum.Type, float64(p.Cols)))
	}
	x := t.As(in["x"], "f32")
	var results []value
	if p.Residual {
		x = t.rounded(t.Apply("add", x, t.As(in["residual"], "f32")), p.X) // XLA for GPUs takes a conversion and its way back away
		results = append(results, t.output(x, tile.Float32, p.X))
	}
	if !p.RMS {
		x = t.Apply("subtract", x, t.broadcast(mean(x), shape))
	}
	square := mean(t.Apply("multiply", x, x))
	inverse := t.Apply("rsqrt", t.Apply("add", square, t.Constant(square.Type, p.Eps())))
	w := t.As(in["w"], "f32")
	if p.Offset {
		w = t.Apply("add", w, t.Constant(w.Type, 1))
	}
	o := t.Apply("multiply", t.Apply("multiply", x, t.broadcast(inverse, shape)), t.broadcast(w, shape))
	if !p.RMS {
		o = t.Apply("add", o, t.broadcast(t.As(in["b"], "f32"), shape))
	}
	return append([]value{o}, results...), nil
}
