package stablehlo

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// softmaxBaseline is Baseline: x to o, row by row, in float32.
func softmaxBaseline(p problem.Softmax) (*Launch, error) {
	for _, d := range []int{p.Rows, p.Cols} {
		if !int32Fits(d) {
			return nil, &UnsupportedError{Program: "xla " + p.String(), Op: "reduce", Reason: "a dimension does not fit 32 bits"}
		}
	}
	shape := []int{p.Rows, p.Cols}
	in, out := []Array{{"x", p.X, shape}}, []Array{{"o", p.Out, shape}}
	l := &Launch{Name: "xla", In: in, Out: out}
	t := &text{depth: 1}
	args := l.arguments(t, in, "")
	t.function("private", "launch", args, storedTypes(out), func() []value {
		x, column := t.as(args[0], "f32"), []int{p.Rows, 1}
		largest := t.reduce("maximum", x, math.Inf(-1), []int{1}, column)
		e := t.op("exponential", t.op("subtract", x, t.broadcast(largest, shape)))
		sum := t.reduce("add", e, 0, []int{1}, column)
		o := t.op("divide", e, t.broadcast(sum, shape))
		return []value{t.output(o, tile.Float32, p.Out)}
	})
	l.text = t.b.String()
	return l, nil
}
