// Package naive is the first rung: one program that sees whole arrays.
package naive

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies in one program, without a grid.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 1, Name: "v1_naive",
	Supports: problem.Matmul.Plain, Blocks: blocks, Build: build,
}

// blocks has one: the whole arrays.
func blocks(p problem.Matmul, _ problem.Machine) []tile.Blocks {
	return []tile.Blocks{{M: p.M, K: p.K, N: p.N}}
}

// build writes the kernel as a tile program.
func build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_naive")
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(zero, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(zero, zero))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(zero, zero))

	t.Store(o, tile.Cast(tile.Dot(a, b, tile.AtPrecision(p.Precision)), p.Out))
	return t.Programs()
}
