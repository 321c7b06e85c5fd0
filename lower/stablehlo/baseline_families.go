package stablehlo

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// norm is o of x, the residual and the weights, row by row in float32, and the sum of x and
// the residual.
func norm(t *text, p problem.Norm, in map[string]value) []value {
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
	return append([]value{o}, results...)
}

// softmax is o of x, row by row, in float32.
func softmax(t *text, p problem.Softmax, in map[string]value) []value {
	x, all, column := t.As(in["x"], "f32"), []int{p.Rows, p.Cols}, []int{p.Rows, 1}
	largest := t.reduce("maximum", x, math.Inf(-1), []int{1}, column)
	e := t.Apply("exponential", t.Apply("subtract", x, t.broadcast(largest, all)))
	sum := t.reduce("add", e, 0, []int{1}, column)
	return []value{t.Apply("divide", e, t.broadcast(sum, all))}
}

// mlp is o of x and the weights: two products in float32, scaled where the weights are
// narrow, the gate's through its activation, and their product.
func mlp(t *text, p problem.MLP, in map[string]value) []value {
	product := func(name string) value {
		sums := t.dot(in["x"], t.As(in[name], storage(p.X)), 0, false, false, "f32", tile.Default)
		if p.Scaled() {
			sums = t.Apply("multiply", sums, t.broadcast(in[name+"_scale"], sums.Dims))
		}
		return sums
	}
	gate, up := product("gate"), product("up")
	switch p.Activation {
	case problem.GateGelu:
		gate = t.activation(problem.Gelu, gate)
	case problem.GateGeluTanh:
		twice := 2 * math.Sqrt(2/math.Pi) // as tile.GeluTanh
		slope := t.Apply("add", t.times(t.Apply("multiply", gate, gate), 0.044715*twice), t.Constant(gate.Type, twice))
		gate = t.Apply("multiply", gate, t.Apply("logistic", t.Apply("multiply", gate, slope)))
	default:
		gate = t.activation(problem.Silu, gate)
	}
	return []value{t.Apply("multiply", gate, up)}
}

// rope is o of x and the tables.
func rope(t *text, p problem.Rope, in map[string]value) []value {
	return []value{t.rope(p, in["x"], in["cos"], in["sin"])}
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
func (t *text) activation(a problem.Activation, x value) value {
	switch a {
	case problem.Relu:
		return t.Apply("maximum", x, t.Constant(x.Type, 0))
	case problem.Silu:
		return t.Apply("multiply", x, t.Apply("logistic", x))
	case problem.Gelu:
		return t.Apply("multiply", x, t.normalCDF(x))
	}
	return x
}

func attentionBaseline(p problem.Problem) (*Launch, error) {
	switch asked := p.(problem.Attention); {
	case asked.Lengths:
		return nil, refused(p, "lengths", "they are a table of kernels")
	case asked.PageSize > 0:
		return nil, refused(p, "pages", "they are a table of kernels")
	case asked.LogSums:
		return nil, refused(p, "log-sums", "o is its only output")
	}
	return written(attention)(p)
}

// attention is o of q, k and v as jax.nn.dot_product_attention writes it: all scores in
// float32, softmax of their rows, probabilities rounded to the dtype, product with v. The
// heads that share one of k and v are a dimension of the product of their own: of rows that
// stand above each other XLA would lay out scores and masks anew. The order of scale, bias,
// soft cap and masks is that of problem.Attention, and a row that sees no key is 0. What is
// turned is so before, as rope writes it.
func attention(t *text, p problem.Attention, in map[string]value) []value {
	shared := p.Batch * p.KVHeads
	all, column := []int{p.Batch, p.Heads, p.Rows, p.Keys}, []int{p.Batch, p.Heads, p.Rows, 1}
	q, k := in["q"], in["k"]
	if p.Rope != problem.TurnedNone {
		q = t.turned(p.RopeOfRows(p.Rows, p.Keys), q, in["row_cos"], in["row_sin"])
	}
	if p.Rope == problem.TurnedBoth {
		k = t.turned(p.RopeOfKeys(), k, in["key_cos"], in["key_sin"])
	}
	q = t.Reshape(q, []int{shared, p.Group(), p.Rows, p.Dim})
	k = t.Reshape(k, []int{shared, p.Keys, p.Dim})
	v := t.Reshape(in["v"], []int{shared, p.Keys, p.ValueDim})

	s := t.Reshape(t.dot(q, k, 1, false, true, "f32", tile.Default), all)
	s = t.times(s, p.Scaled())
	if p.Bias {
		s = t.Apply("add", s, in["bias"])
	}
	if p.SoftCap > 0 {
		s = t.times(t.Apply("tanh", t.times(s, 1/p.SoftCap)), p.SoftCap)
	}
	if seen := t.seen(p, in, all); seen != nil {
		s = t.choose(*seen, s, t.Constant(s.Type, math.Inf(-1)))
	}
	if lo, hi := p.Span(); p.Segments || lo > 0 || p.Rows+hi < p.Keys { // some keys may be of no row: a weight of 0 hides no NaN of v
		seen := *t.seen(p, in, []int{p.Batch, 1, p.Rows, p.Keys})
		number := tensor{Elem: "f32", Dims: seen.Dims}
		any := t.reduce("maximum", t.choose(seen, t.Constant(number, 1), t.Constant(number, 0)), 0, []int{2}, []int{p.Batch, 1, p.Keys, 1})
		any = t.Reshape(t.broadcast(any, []int{p.Batch, p.KVHeads, p.Keys, p.ValueDim}), v.Dims)
		v = t.choose(t.compare("GT", any, t.Constant(any.Type, 0)), v, t.Constant(v.Type, 0))
	}

	const least = -math.MaxFloat32 // -Inf alone is below it: no difference to it is that of infinities
	top := t.reduce("maximum", s, least, []int{3}, column)
	var sink value
	if p.Sinks {
		sink = t.broadcast(in["sinks"], column)
		top = t.Apply("maximum", top, sink)
	}
	power := t.Apply("exponential", t.Apply("subtract", s, t.broadcast(top, all)))
	sum := t.reduce("add", power, 0, []int{3}, column)
	if p.Sinks {
		sum = t.Apply("add", sum, t.Apply("exponential", t.Apply("subtract", sink, top)))
	}
	sum = t.Apply("maximum", sum, t.Constant(sum.Type, 1e-30))
	weights := t.output(t.Apply("divide", power, t.broadcast(sum, all)), tile.Float32, p.Dtype)

	o := t.dot(t.Reshape(weights, []int{shared, p.Group(), p.Rows, p.Keys}), v, 1, false, false, "f32", tile.Default)
	return []value{t.Reshape(o, []int{p.Batch, p.Heads, p.Rows, p.ValueDim})}
}

// turned is x turned by tables, rounded to its dtype.
func (t *text) turned(p problem.Rope, x, cos, sin value) value {
	table := []int{p.Rows, p.Turned() / 2}
	return t.output(t.rope(p, x, t.Reshape(cos, table), t.Reshape(sin, table)), tile.Float32, p.Dtype)
}

// times is x times a number.
func (t *text) times(x value, by float64) value {
	return t.Apply("multiply", x, t.Constant(x.Type, by))
}

// seen is which keys rows see, of dimensions all; nil if each sees each.
func (t *text) seen(p problem.Attention, in map[string]value, all []int) *value {
	var seen *value
	and := func(cond value) {
		cond = t.broadcast(cond, all)
		if seen != nil {
			cond = t.Apply("and", *seen, cond)
		}
		seen = &cond
	}
	lo, hi := p.Span()
	if pairs := []int{p.Rows, p.Keys}; hi < p.Keys || lo > -p.Rows {
		ahead := t.Apply("subtract", t.iota(1, pairs), t.iota(0, pairs))
		if hi < p.Keys {
			and(t.compare("LE", ahead, t.Constant(ahead.Type, float64(hi))))
		}
		if lo > -p.Rows {
			and(t.compare("GE", ahead, t.Constant(ahead.Type, float64(lo))))
		}
	}
	if p.Segments {
		pairs := []int{p.Batch, p.Rows, p.Keys}
		same := t.compare("EQ", t.broadcast(in["row_segment"], pairs), t.broadcast(in["key_segment"], pairs))
		and(t.Reshape(same, []int{p.Batch, 1, p.Rows, p.Keys}))
	}
	return seen
}
