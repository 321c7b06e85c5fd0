package stablehlo

import (
	"cmp"
	"fmt"
	"math"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

// scales are those of a and b that p takes beside them.
func scales(p problem.Matmul, s problem.Scheme) []problem.Operand {
	given := s.A != problem.NoGrain && !s.Dynamic
	a, b := quant.GroupingOf(s, true), quant.GroupingOf(s, false)
	var in []problem.Operand
	for _, x := range []struct {
		name  string
		need  bool
		dtype tile.Dtype
		shape []int
	}{
		{"sa", given, a.Scales, a.Shape(p.M, p.K)}, {"sb", s.B != problem.NoGrain, b.Scales, b.Shape(p.K, p.N)},
		{"ta", s.TwoLevels() && s.A != problem.NoGrain, tile.Float32, []int{1, 1}}, {"tb", s.TwoLevels(), tile.Float32, []int{1, 1}},
	} {
		if x.need {
			in = append(in, problem.Operand{Name: x.name, Dtype: cmp.Or(x.dtype, tile.Float32), Shape: batched(p, x.shape...)})
		}
	}
	return in
}

// refusedScheme is why there is no baseline for a quantization; "" if there is.
func refusedScheme(p problem.Matmul, s problem.Scheme) string {
	switch {
	case s.ZeroA || s.ZeroB:
		return "zero points are folded by kernels only"
	case s.Dynamic && s.Scales == tile.Float8E8M0FNU:
		return "powers of two that scale a are made by kernels only"
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
		b = t.As(b, storage(db))
	}
	p.A, p.B = da, db
	var o value
	if s.B == problem.Block {
		o = t.groups(p, s, a, b, t.As(in["sb"], "f32"), sa)
		for _, name := range []string{"ta", "tb"} {
			if by, ok := in[name]; ok {
				o = t.Apply("multiply", o, t.broadcast(by, o.Dims))
			}
		}
	} else {
		o = t.As(t.matmul(p, a, b), "f32")
	}
	switch bySb := s.B != problem.Block; {
	case s.A == problem.NoGrain && bySb:
		return t.Apply("multiply", o, t.broadcast(in["sb"], o.Dims))
	case s.A == problem.NoGrain, s.A == problem.TokenBlock:
		return o
	case bySb: // sa in the two parts that a kernel has
		first := t.Apply("minimum", t.Apply("maximum", sa, t.Constant(sa.Type, 0x1p-64)), t.Constant(sa.Type, 0x1p64))
		for _, by := range []value{first, in["sb"], t.Apply("divide", sa, first)} {
			o = t.Apply("multiply", o, t.broadcast(by, o.Dims))
		}
		return o
	}
	return t.Apply("multiply", o, t.broadcast(sa, o.Dims))
}

// groups is the sum over groups of k of their products, scaled; by sa too where groups
// of a have scales.
func (t *text) groups(p problem.Matmul, s problem.Scheme, a, b, sb, sa value) value {
	n := p.Groups(s)
	a = t.Reshape(a, []int{p.M, n, s.Block})
	a = t.transpose(a, 1, 0, 2)
	b = t.Reshape(b, []int{n, s.Block, p.N})
	p.Batch, p.K = n, s.Block
	parts := t.matmul(p, a, b)
	parts = t.Apply("multiply", t.As(parts, "f32"), t.broadcast(sb, parts.Dims))
	if s.A == problem.TokenBlock {
		sa = t.Reshape(t.transpose(t.As(sa, "f32"), 1, 0), []int{n, p.M, 1})
		parts = t.Apply("multiply", parts, t.broadcast(sa, parts.Dims))
	}
	return t.reduce("add", parts, 0, []int{0}, []int{p.M, p.N})
}

// quantized is a in codes of d, and their scales. See package quant.
func (t *text) quantized(p problem.Matmul, s problem.Scheme, a value, d tile.Dtype) (codes, scales value) {
	x := t.As(a, "f32")
	across, dims := []int{len(x.Dims) - 1}, batched(p, p.M, 1)
	switch s.A {
	case problem.Tensor:
		across, dims = []int{len(x.Dims) - 2, len(x.Dims) - 1}, batched(p, 1, 1)
	case problem.TokenBlock:
		x = t.Reshape(x, []int{p.M, p.Groups(s), s.Block})
		across, dims = []int{2}, []int{p.M, p.Groups(s), 1}
	}
	size := t.Reshape(t.reduce("maximum", t.Apply("abs", x), math.Inf(-1), across, nil), dims)
	_, top := d.Range()
	scales = t.Apply("multiply", size, t.Constant(size.Type, float64(float32(1/top))))
	scales = t.Apply("maximum", scales, t.Constant(size.Type, 0x1p-126))
	inverse := t.Apply("divide", t.Constant(size.Type, 1), scales)
	x = t.Apply("multiply", x, t.broadcast(inverse, x.Dims))
	codes = t.As(t.cast(x, tile.Float32, d), storage(d))
	if s.A == problem.TokenBlock {
		codes, scales = t.Reshape(codes, []int{p.M, p.K}), t.Reshape(scales, []int{p.M, p.Groups(s)})
	}
	return codes, scales
}
