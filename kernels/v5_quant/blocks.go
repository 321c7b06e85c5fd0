package quantized

import (
	"slices"

	"matladder/kernels/blocking"
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

// large are for a machine whose fast memory holds tens of MiB and whose matrix
// units outrun its main memory: the larger bm and bn, the more is done with a byte.
var large = []tile.Blocks{
	{M: 2048, K: 1024, N: 2048},
	{M: 2048, K: 2048, N: 2048},
}

// candidates are those that take the least time on the machine's cores, the best first,
// or, of a machine that does not tell, the sweep, and of the large blocks those that fit;
// where elements of k share scales, bk is a whole number of groups.
func candidates(p problem.Matmul, m tile.Machine) []tile.Blocks {
	list := blocking.Candidates(p, m)
	if list == nil {
		list = slices.Concat(sweep, fitting(p, m, large))
	}
	if scheme, err := p.Scheme(); err == nil && scheme.B == problem.Block {
		for i := range list {
			list[i].K = max(list[i].K/scheme.Block, 1) * scheme.Block
		}
	}
	return tile.Candidates(p.M, p.K, p.N, list...)
}

// fitting are those of blocks whose operands, twice, and accumulator take less than
// the fast memory.
func fitting(p problem.Matmul, m tile.Machine, blocks []tile.Blocks) []tile.Blocks {
	var fit []tile.Blocks
	for _, b := range tile.Candidates(p.M, p.K, p.N, blocks...) {
		mk, kn, mn := int64(b.M)*int64(b.K), int64(b.K)*int64(b.N), int64(b.M)*int64(b.N)
		if need := 2*(p.A.Bytes(mk)+p.B.Bytes(kn)+p.Out.Bytes(mn)) + p.Acc.Bytes(mn); need < m.FastBytes {
			fit = append(fit, b)
		}
	}
	return fit
}
