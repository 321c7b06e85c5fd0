package stablehlo

import (
	"math"

	"matladder/problem"
)

// softmax is o of x, row by row, in float32.
func softmax(t *text, p problem.Softmax, in map[string]value) ([]value, error) {
	x, all, column := t.As(in["x"], "f32"), []int{p.Rows, p.Cols}, []int{p.Rows, 1}
	largest := t.reduce("maximum", x, math.Inf(-1), []int{1}, column)
	e := t.Apply("exponential", t.Apply("subtract", x, t.broadcast(largest, all)))
	sum := t.reduce("add", e, 0, []int{1}, column)
	return []value{t.Apply("divide", e, t.broadcast(sum, all))}, nil
}
