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
