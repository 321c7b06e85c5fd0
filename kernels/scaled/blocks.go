package scaled

import (
	"matladder/problem"
	"matladder/tile"
)

// Shapes are those that take the least time on the machine, the best first, or, of a machine
// that does not tell, the fourth rung's, so that the two differ in what they compute alone;
// where elements of k share scales, bk is a whole number of groups.
func Shapes(p problem.Matmul, m problem.Machine) []tile.Blocks {
	list := m.Rank(p)
	if list == nil {
		list = []tile.Blocks{
			{M: 128, K: 128, N: 128},
			{M: 256, K: 256, N: 256},
			{M: 512, K: 512, N: 512},
			{M: 512, K: 1024, N: 1024},
			{M: 1024, K: 1024, N: 1024},
		}
	}
	if scheme, err := p.Scheme(); err == nil && scheme.B == problem.Block {
		for i := range list {
			list[i].K = max(list[i].K/scheme.Block, 1) * scheme.Block
		}
	}
	return tile.Candidates(p.M, p.K, p.N, list...)
}
