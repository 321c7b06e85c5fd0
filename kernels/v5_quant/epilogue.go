package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// scales declares the scales that p's quantization needs and returns what they
// do to the accumulator.
func scales(t *tile.Builder, p problem.Matmul) func(tile.Value) tile.Value {
	if p.Quant == problem.NoQuant {
		return func(acc tile.Value) tile.Value { return acc }
	}
	zero := tile.Const(0)
	sa := t.In("sa", tile.Float32, tile.Array(1, 1), tile.Block(1, 1).At(zero, zero))
	sb := t.In("sb", tile.Float32, tile.Array(1, 1), tile.Block(1, 1).At(zero, zero))
	return func(acc tile.Value) tile.Value {
		return tile.Mul(tile.Cast(acc, tile.Float32), tile.Mul(sa, sb))
	}
}
