// Package shapes chooses the block shapes of grouped products.
package shapes

import (
	"matladder/problem"
	"matladder/tile"
)

// Candidates are the shapes to sweep on a machine: blocks of many rows, so that few blocks have
// rows of two groups. Cores divide only the columns of the output among them, so that on
// machines with caches those shapes come first that give each core a block of columns or two.
func Candidates(p problem.Grouped, m problem.Machine) []tile.Blocks {
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
