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
		twice := 2 * math.Sqrt(2/math.Pi) // as tile.GeluTanh
		slope := t.op("add", t.times(t.op("multiply", gate, gate), 0.044715*twice), t.constant(gate.tensor, twice))
		gate = t.op("multiply", gate, t.op("logistic", t.op("multiply", gate, slope)))
	default:
		gate, err = t.activation(problem.Silu, gate)
	}
	return []value{t.op("multiply", gate, up)}, err
}
