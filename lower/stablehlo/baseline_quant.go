package stablehlo

import (
	"fmt"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// quantizedArrays are what p needs beside a and b.
func quantizedArrays(p problem.Matmul, s problem.Scheme) []Array {
	var in []Array
	switch {
	case s.A == problem.NoGrain || s.Dynamic:
	case s.A == problem.TokenBlock:
		in = append(in, Array{"sa", tile.Float32, []int{p.M, p.Groups(s)}})
	case s.A == problem.Token:
		in = append(in, Array{"sa", tile.Float32, batched(p, p.M, 1)})
	default:
		in = append(in, Array{"sa", tile.Float32, batched(p, 1, 1)})
	}
	switch s.B {
	case problem.Tensor:
		in = append(in, Array{"sb", tile.Float32, batched(p, 1, 1)})
	case problem.Channel:
		in = append(in, Array{"sb", tile.Float32, batched(p, 1, p.N)})
	case problem.Block:
		in = append(in, Array{"sb", tile.Float32, []int{p.Groups(s), 1, p.N}})
	}
	if p.Bias {
		in = append(in, Array{"bias", tile.Float32, batched(p, 1, p.N)})
	}
	return in
}

// refusedScheme is why there is no baseline for a quantization; "" if there is.
func refusedScheme(p problem.Matmul, s problem.Scheme) string {
	switch {
	case s.ZeroA || s.ZeroB:
		return "zero points are folded by kernels only"
	case s.B == problem.Block && p.K%s.Block != 0:
		return fmt.Sprintf("k = %d is no whole number of groups of %d", p.K, s.Block)
	case s.B == problem.Block && p.Batch > 1:
		return "groups of k are the batch of its dot_general already"
	}
	return ""
}

// scaledProduct is a times b by their scales, in float32: a quantized first where
// p says so, a narrow b widened to an a that has no scales. Sums of a group are
// scaled and added, as in a kernel.
func (t *text) scaledProduct(p problem.Matmul, s problem.Scheme, in map[string]value) value {
	a, b, sa := in["a"], in["b"], in["sa"]
	da, db := p.Factors()
	if s.Dynamic {
		a, sa = t.quantized(p, s, a, da)
	}
	if db != p.B {
		b = t.as(b, storage[db])
	}
	p.A, p.B = da, db
	var o value
	if s.B == problem.Block {
		o = t.groups(p, s, a, b, in["sb"], sa)
	} else {
		o = t.as(t.matmul(p, a, b), "f32")
	}
	switch bySb := s.B != problem.Block; {
	case s.A == problem.NoGrain && bySb:
		return t.op("multiply", o, t.broadcast(in["sb"], o.dims))
	case s.A == problem.NoGrain, s.A == problem.TokenBlock:
		return o
	case bySb: // sa in the two parts that a kernel has
		first := t.op("minimum", t.op("maximum", sa, t.constant(sa.tensor, 0x1p-64)), t.constant(sa.tensor, 0x1p64))
		for _, by := range []value{first, in["sb"], t.op("divide", sa, first)} {
			o = t.op("multiply", o, t.broadcast(by, o.dims))
		}
		return o
	}
	return t.op("multiply", o, t.broadcast(sa, o.dims))
}

// groups is the sum over groups of k of their products, scaled; by sa too where groups
// of a have scales.
func (t *text) groups(p problem.Matmul, s problem.Scheme, a, b, sb, sa value) value {
	n := p.Groups(s)
	a = t.reshape(a, []int{p.M, n, s.Block})
	to := tensor{a.elem, []int{n, p.M, s.Block}}
	a = t.define(to, "transpose %s, dims = [1, 0, 2] : (%s) -> %s", a.name, a.tensor, to)
	b = t.reshape(b, []int{n, s.Block, p.N})
	p.Batch, p.K = n, s.Block
	parts := t.matmul(p, a, b)
	parts = t.op("multiply", t.as(parts, "f32"), t.broadcast(sb, parts.dims))
	if s.A == problem.TokenBlock {
		to := tensor{sa.elem, []int{n, p.M}}
		sa = t.reshape(t.define(to, "transpose %s, dims = [1, 0] : (%s) -> %s", sa.name, sa.tensor, to), []int{n, p.M, 1})
		parts = t.op("multiply", parts, t.broadcast(sa, parts.dims))
	}
	return t.reduce("add", parts, 0, []int{0}, []int{p.M, p.N})
}

// quantized is a in codes of d, and their scales. See package quant.
func (t *text) quantized(p problem.Matmul, s problem.Scheme, a value, d tile.Dtype) (codes, scales value) {
	x := t.as(a, "f32")
	across, dims := []int{len(x.dims) - 1}, batched(p, p.M, 1)
	switch s.A {
	case problem.Tensor:
		across, dims = []int{len(x.dims) - 2, len(x.dims) - 1}, batched(p, 1, 1)
	case problem.TokenBlock:
		x = t.reshape(x, []int{p.M, p.Groups(s), s.Block})
		across, dims = []int{2}, []int{p.M, p.Groups(s), 1}
	}
	size := t.reshape(t.reduce("maximum", t.op("abs", x), math.Inf(-1), across, nil), dims)
	_, top := d.Range()
	scales = t.op("multiply", size, t.constant(size.tensor, float64(float32(1/top))))
	scales = t.op("maximum", scales, t.constant(size.tensor, 0x1p-126))
	inverse := t.op("divide", t.constant(size.tensor, 1), scales)
	x = t.op("multiply", x, t.broadcast(inverse, x.dims))
	codes = t.as(t.cast(x, tile.Float32, d), storage[d])
	if s.A == problem.TokenBlock {
		codes, scales = t.reshape(codes, []int{p.M, p.K}), t.reshape(scales, []int{p.M, p.Groups(s)})
	}
	return codes, scales
}

// reduce folds dimensions of x; the result has the others, or dims if given.
func (t *text) reduce(op string, x value, first float64, across, dims []int) value {
	var left []int
	for d, n := range x.dims {
		if !slices.Contains(across, d) {
			left = append(left, n)
		}
	}
	to := tensor{x.elem, left}
	init := t.constant(tensor{elem: x.elem}, first)
	v := t.define(to, "reduce(%s init: %s) applies stablehlo.%s across dimensions = %s : (%s, %s) -> %s",
		x.name, init.name, op, list(across), x.tensor, init.tensor, to)
	if dims == nil {
		return v
	}
	return t.reshape(v, dims)
}
