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
		return t.op("divide", sum, t.constant(sum.tensor, float64(p.Cols)))
	}
	x := t.as(in["x"], "f32")
	var results []value
	if p.Residual {
		x = t.rounded(t.op("add", x, t.as(in["residual"], "f32")), p.X) // XLA for GPUs takes a conversion and its way back away
		results = append(results, t.output(x, tile.Float32, p.X))
	}
	if !p.RMS {
		x = t.op("subtract", x, t.broadcast(mean(x), shape))
	}
	square := mean(t.op("multiply", x, x))
	inverse := t.op("rsqrt", t.op("add", square, t.constant(square.tensor, p.Eps())))
	w := t.as(in["w"], "f32")
	if p.Offset {
		w = t.op("add", w, t.constant(w.tensor, 1))
	}
	o := t.op("multiply", t.op("multiply", x, t.broadcast(inverse, shape)), t.broadcast(w, shape))
	if !p.RMS {
		o = t.op("add", o, t.broadcast(t.as(in["b"], "f32"), shape))
	}
	return append([]value{o}, results...), nil
}
