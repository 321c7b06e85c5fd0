package stablehlo

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// mlp is o of x and the weights: two products in float32, scaled where the weights are
// narrow, the gate's through its activation, and their product.
func mlp(t *text, p problem.MLP, in map[string]value) ([]value, error) {
	product := func(name string) value {
		sums := t.dot(in["x"], t.as(in[name], storage[p.X]), 0, false, false, "f32", tile.Default)
		if p.Scaled() {
			sums = t.op("multiply", sums, t.broadcast(in[name+"_scale"], sums.dims))
		}
		return sums
	}
	gate, up := product("gate"), product("up")
	var err error
	switch p.Activation {
	case problem.GateGelu:
		gate, err = t.activation(problem.Gelu, gate)
	case problem.GateGeluTanh:
		cube := t.op("multiply", t.op("multiply", gate, gate), gate)
		arg := t.times(t.op("add", gate, t.times(cube, 0.044715)), math.Sqrt(2/math.Pi))
		gate = t.op("multiply", t.times(gate, 0.5), t.op("add", t.op("tanh", arg), t.constant(arg.tensor, 1)))
	default:
		gate, err = t.activation(problem.Silu, gate)
	}
	return []value{t.op("multiply", gate, up)}, err
}
