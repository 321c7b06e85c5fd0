// Package again is a rung too many: the fourth in blocks of 64.
package again

import (
	optblock "matladder/kernels/v4_optblock"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies blocks of 64.
var Kernel = problem.Rung[problem.Matmul]{
	Number: 7, Name: "v7_again",
	Supports: problem.Matmul.Plain, Blocks: blocks, Build: optblock.Kernel.Build,
}

// blocks has blocks of 64 only.
func blocks(p problem.Matmul, _ problem.Machine) []tile.Blocks {
	return tile.Candidates(p.M, p.K, p.N, tile.Blocks{M: 64, K: 64, N: 64})
}
