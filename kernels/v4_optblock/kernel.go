// Package optblock is the fourth rung: the third's program, its block shape
// chosen for the machine.
package optblock

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies blocks of a shape to be swept and tuned.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 4, Name: "v4_optblock",
	Supports: problem.Matmul.Plain, Blocks: blocks, Build: build,
}

// blocks has those shapes that take the least time on the machine's cores, the best
// first, or, of a machine that does not tell, the sweep, from the third rung's block to
// one of 1024³.
func blocks(p problem.Matmul, m problem.Machine) []tile.Blocks {
	if best := m.Cores.Rank(p, tile.Blocks{}); best != nil {
		return best
	}
	return tile.Candidates(p.M, p.K, p.N,
		tile.Blocks{M: 128, K: 128, N: 128},
		tile.Blocks{M: 256, K: 256, N: 256},
		tile.Blocks{M: 512, K: 512, N: 512},
		tile.Blocks{M: 512, K: 1024, N: 1024},
		tile.Blocks{M: 1024, K: 1024, N: 1024},
	)
}

// build writes the kernel as a tile program.
func build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v4_optblock")
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
