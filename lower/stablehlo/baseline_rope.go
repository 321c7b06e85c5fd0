package stablehlo

import "matladder/problem"

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
