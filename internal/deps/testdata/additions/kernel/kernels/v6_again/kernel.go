// Package again is a rung too many: the fourth in blocks of 64.
package again

import (
	optblock "matladder/kernels/v4_optblock"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies blocks of 64.
type Kernel struct{ optblock.Kernel }

// Number is the rung.
func (Kernel) Number() int { return 6 }

// Name is the folder's.
func (Kernel) Name() string { return "v6_again" }

// Candidates has blocks of 64 only.
func (Kernel) Candidates(p problem.Matmul, _ problem.Machine) []tile.Blocks {
	return tile.Candidates(p.M, p.K, p.N, tile.Blocks{M: 64, K: 64, N: 64})
}
