// Package columns chooses the block shapes of grouped products.
package columns

import (
	"matladder/problem"
	"matladder/tile"
)

// Candidates are the shapes to sweep of a machine: blocks of many rows, for few groups to
// meet a block twice. Cores share the columns of the output alone, so that of machines with
// caches those come first that give each core a block of columns or two.
func Candidates(p problem.Grouped, m tile.Machine) []tile.Blocks {
	list := []tile.Blocks{{M: 512, K: p.K, N: 512}, {M: 1024, K: p.K, N: 512},
		{M: 128, K: 128, N: 128}, {M: 256, K: 512, N: 512}, {M: 512, K: 1024, N: 1024}}
	if m.Cores != nil {
		const least, most = 64, 512
		n := most
		for n > least && tile.Ceil(p.N, n) < m.Parallel {
			n /= 2
		}
		list = append([]tile.Blocks{{M: 512, K: p.K, N: n}, {M: 512, K: p.K, N: max(n/2, least)}}, list...)
	}
	return problem.ClipAll(p, list...)
}
