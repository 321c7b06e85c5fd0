package stablehlo

import (
	"matladder/problem"
	"matladder/tile"
)

// normBaseline is Baseline: x, the residual and the weights to o, and the sum of x and the
// residual; row by row, in float32.
func normBaseline(p problem.Norm) (*Launch, error) {
	for _, d := range []int{p.Rows, p.Cols} {
		if !int32Fits(d) {
			return nil, &UnsupportedError{Program: "xla " + p.String(), Op: "reduce", Reason: "a dimension does not fit 32 bits"}
		}
	}
	l := &Launch{Name: "xla"}
	for _, o := range p.Operands() {
		if array := (Array{o.Name, o.Dtype, o.Shape}); o.Out {
			l.Out = append(l.Out, array)
		} else {
			l.In = append(l.In, array)
		}
	}
	t := &text{depth: 1}
	args := l.arguments(t, l.In, "")
	t.function("private", "launch", args, storedTypes(l.Out), func() []value {
		in := map[string]value{}
		for i, a := range l.In {
			in[a.Name] = t.as(args[i], "f32")
		}
		x, shape, column := in["x"], []int{p.Rows, p.Cols}, []int{p.Rows, 1}
		mean := func(x value) value {
			sum := t.reduce("add", x, 0, []int{1}, column)
			return t.op("divide", sum, t.constant(sum.tensor, float64(p.Cols)))
		}
		var results []value
		if p.Residual {
			sum := t.output(t.op("add", x, in["residual"]), tile.Float32, p.X)
			results, x = append(results, sum), t.as(sum, "f32")
		}
		if !p.RMS {
			x = t.op("subtract", x, t.broadcast(mean(x), shape))
		}
		square := mean(t.op("multiply", x, x))
		inverse := t.op("rsqrt", t.op("add", square, t.constant(square.tensor, p.Eps())))
		w := in["w"]
		if p.Offset {
			w = t.op("add", w, t.constant(w.tensor, 1))
		}
		o := t.op("multiply", t.op("multiply", x, t.broadcast(inverse, shape)), t.broadcast(w, shape))
		if !p.RMS {
			o = t.op("add", o, t.broadcast(in["b"], shape))
		}
		return append([]value{t.output(o, tile.Float32, p.Out)}, results...)
	})
	l.text = t.b.String()
	return l, nil
}
