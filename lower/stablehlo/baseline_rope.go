package stablehlo

import (
	"fmt"
	"strings"

	"matladder/problem"
)

// rope is o of x and the tables.
func rope(t *text, p problem.Rope, in map[string]value) ([]value, error) {
	return []value{t.rope(p, in["x"], in["cos"], in["sin"])}, nil
}

// rope is x turned by tables, in float32. The columns of pairs are a dimension of their own, of
// two.
func (t *text) rope(p problem.Rope, stored, cos, sin value) value {
	turned := p.Turned()
	with := func(dims ...int) []int { return append([]int{p.Batch, p.Heads, p.Rows}, dims...) }
	x, pairs, two := t.as(stored, "f32"), with(2, turned/2), 3
	if p.Interleaved {
		pairs, two = with(turned/2, 2), 4
	}
	half := with(turned / 2)
	cos, sin = t.broadcast(cos, half), t.broadcast(sin, half)
	both := t.reshape(t.part(x, 3, 0, turned), pairs)
	first, second := t.reshape(t.part(both, two, 0, 1), half), t.reshape(t.part(both, two, 1, 1), half)

	single := append([]int(nil), pairs...)
	single[two] = 1
	o := t.reshape(t.join(two,
		t.reshape(t.op("subtract", t.op("multiply", first, cos), t.op("multiply", second, sin)), single),
		t.reshape(t.op("add", t.op("multiply", second, cos), t.op("multiply", first, sin)), single)), with(turned))
	if turned < p.Dim {
		o = t.join(3, o, t.part(x, 3, turned, p.Dim-turned))
	}
	return o
}

// part takes n elements of x along dim, from one on.
func (t *text) part(x value, dim, from, n int) value {
	to := tensor{x.elem, append([]int(nil), x.dims...)}
	to.dims[dim] = n
	if x.tensor.equal(to) {
		return x
	}
	var ranges []string
	for i, d := range x.dims {
		if i == dim {
			ranges = append(ranges, fmt.Sprintf("%d:%d", from, from+n))
		} else {
			ranges = append(ranges, fmt.Sprintf("0:%d", d))
		}
	}
	return t.define(to, "slice %s [%s] : (%s) -> %s", x.name, strings.Join(ranges, ", "), x.tensor, to)
}

// join puts x and y one behind the other along dim.
func (t *text) join(dim int, x, y value) value {
	to := tensor{x.elem, append([]int(nil), x.dims...)}
	to.dims[dim] += y.dims[dim]
	return t.define(to, "concatenate %s, dim = %d : (%s) -> %s", names([]value{x, y}), dim, types([]value{x, y}), to)
}
