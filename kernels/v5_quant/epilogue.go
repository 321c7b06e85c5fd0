package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// sweep is the fourth rung's, so that the two differ in what they compute alone.
var sweep = []tile.Blocks{
	{M: 128, K: 128, N: 128},
	{M: 256, K: 256, N: 256},
	{M: 512, K: 512, N: 512},
	{M: 512, K: 1024, N: 1024},
	{M: 1024, K: 1024, N: 1024},
}

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
