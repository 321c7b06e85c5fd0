// Package gates has what the rungs of mlp share: weights as products meet them, sums as
// they stand for real numbers, and what gate and up become together.
package gates

import (
	"matladder/problem"
	"matladder/tile"
)

// Wide are weights in the dtype that x multiplies in.
func Wide(p problem.MLP, w *tile.Ref) tile.Value {
	if p.Scaled() {
		return tile.Cast(w, p.X)
	}
	return w
}

// Scaled are sums of products with the weights of a name, times the scales of their
// columns if these have any.
func Scaled(t *tile.Builder, p problem.MLP, name string, sums tile.Value, j tile.IndexExpr, bn int) tile.Value {
	if !p.Scaled() {
		return sums
	}
	scale := t.In(name+"_scale", tile.Float32, tile.Array(1, p.N), tile.Block(1, bn).At(tile.Const(0), j))
	return tile.Mul(sums, scale)
}

// Joined is what o is of both sums.
func Joined(p problem.MLP, gate, up tile.Value) *tile.Expr {
	return tile.Cast(tile.Mul(activated(p.Activation, gate), up), p.X)
}

func activated(a problem.GateActivation, x tile.Value) *tile.Expr {
	switch a {
	case problem.GateGelu:
		return tile.Gelu(x)
	case problem.GateGeluTanh:
		return tile.GeluTanh(x)
	}
	return tile.Silu(x)
}
