// Package block is the third rung: a three-dimensional grid of blocks that
// accumulates into the output block.
package block

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies 128×128×128 blocks.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 3, Name: "v3_block",
	Supports: problem.Matmul.Plain, Blocks: blocks, Build: build,
}

// blocks has one: the block of a 128×128 matrix unit.
func blocks(p problem.Matmul, _ problem.Machine) []tile.Blocks {
	return tile.Candidates(p.M, p.K, p.N, tile.Blocks{M: 128, K: 128, N: 128})
}

// build writes the kernel as a tile program.
func build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v3_block")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.When(k.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b, tile.AtPrecision(p.Precision)))
	return t.Programs()
}
