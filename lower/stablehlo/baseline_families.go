package stablehlo

import (
	"math"

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

// softmax is o of x, row by row, in float32.
func softmax(t *text, p problem.Softmax, in map[string]value) ([]value, error) {
	x, all, column := t.As(in["x"], "f32"), []int{p.Rows, p.Cols}, []int{p.Rows, 1}
	largest := t.reduce("maximum", x, math.Inf(-1), []int{1}, column)
	e := t.Apply("exponential", t.Apply("subtract", x, t.broadcast(largest, all)))
	sum := t.reduce("add", e, 0, []int{1}, column)
	return []value{t.Apply("divide", e, t.broadcast(sum, all))}, nil
}

// mlp is o of x and the weights: two products in float32, scaled where the weights are
// narrow, the gate's through its activation, and their product.
func mlp(t *text, p problem.MLP, in map[string]value) ([]value, error) {
	product := func(name string) value {
		sums := t.dot(in["x"], t.As(in[name], storage(p.X)), 0, false, false, "f32", tile.Default)
		if p.Scaled() {
			sums = t.Apply("multiply", sums, t.broadcast(in[name+"_scale"], sums.Dims))
		}
		return sums
	}
	gate, up := product("gate"), product("up")
	var err error
	switch p.Activation {
	case problem.GateGelu:
		gate, err = t.activation(problem.Gelu, gate)
	case problem.GateGeluTanh:
		twice := 2 * math.Sqrt(2/math.Pi) // as tile.GeluTanh
		slope := t.Apply("add", t.times(t.Apply("multiply", gate, gate), 0.044715*twice), t.Constant(gate.Type, twice))
		gate = t.Apply("multiply", gate, t.Apply("logistic", t.Apply("multiply", gate, slope)))
	default:
		gate, err = t.activation(problem.Silu, gate)
	}
	return []value{t.Apply("multiply", gate, up)}, err
}

// rope is o of x and the tables.
func rope(t *text, p problem.Rope, in map[string]value) ([]value, error) {
	return []value{t.rope(p, in["x"], in["cos"], in["sin"])}, nil
}

// rope is x turned by tables, in float32. The columns of pairs are a dimension of their own, of
// two.
func (t *text) rope(p problem.Rope, stored, cos, sin value) value {
	turned := p.Turned()
	with := func(dims ...int) []int { return append([]int{p.Batch, p.Heads, p.Rows}, dims...) }
	x, pairs, two := t.As(stored, "f32"), with(2, turned/2), 3
	if p.Interleaved {
		pairs, two = with(turned/2, 2), 4
	}
	half := with(turned / 2)
	cos, sin = t.broadcast(cos, half), t.broadcast(sin, half)
	both := t.Reshape(t.part(x, 3, 0, turned), pairs)
	first, second := t.Reshape(t.part(both, two, 0, 1), half), t.Reshape(t.part(both, two, 1, 1), half)

	single := append([]int(nil), pairs...)
	single[two] = 1
	o := t.Reshape(t.join(two,
		t.Reshape(t.Apply("subtract", t.Apply("multiply", first, cos), t.Apply("multiply", second, sin)), single),
		t.Reshape(t.Apply("add", t.Apply("multiply", second, cos), t.Apply("multiply", first, sin)), single)), with(turned))
	if turned < p.Dim {
		o = t.join(3, o, t.part(x, 3, turned, p.Dim-turned))
	}
	return o
}

// part takes n elements of x along dim, from one on.
func (t *text) part(x value, dim, from, n int) value {
	dims, start := append([]int(nil), x.Dims...), make([]int, len(x.Dims))
	dims[dim], start[dim] = n, from
	return t.Slice(x, start, dims)
}

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
