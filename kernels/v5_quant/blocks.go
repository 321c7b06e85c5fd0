package quantized

import (
	"slices"

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

// flat are bm×bn for a machine that keeps the accumulator in registers, where bk only
// has to fill what one load brings: 128 bytes of a row of a.
var flat = []tile.Blocks{{M: 128, N: 256}, {M: 256, N: 128}, {M: 128, N: 128}, {M: 64, N: 256}, {M: 64, N: 128}, {M: 64, N: 64}, {M: 16, N: 64}}

// inRegisters are the flat blocks that fit, those of more rows than p has but once.
func inRegisters(p problem.Matmul, m problem.Machine) []tile.Blocks {
	const rowBytes = 128
	k := rowBytes * 8 / p.A.Bits()
	var list []tile.Blocks
	for _, b := range flat {
		if p.Acc.Bytes(int64(b.M)*int64(b.N)) <= m.AccumulatorBytes && (b.M < 2*p.M || b.M == 16) {
			list = append(list, tile.Blocks{M: b.M, K: k, N: b.N})
		}
	}
	return list
}

// candidates are those that take the least time on the machine, the best first, or, of a
// machine that does not tell, the sweep; where elements of k share scales, bk is a whole
// number of groups.
func candidates(p problem.Matmul, m problem.Machine) []tile.Blocks {
	list := m.Rank(p)
	if list == nil {
		list = slices.Clone(sweep)
	}
	if m.AccumulatorBytes > 0 {
		list = inRegisters(p, m)
	}
	if scheme, err := p.Scheme(); err == nil && scheme.B == problem.Block {
		for i := range list {
			list[i].K = max(list[i].K/scheme.Block, 1) * scheme.Block
		}
	}
	return tile.Candidates(p.M, p.K, p.N, list...)
}

// RequestsVMEM says that fast memory is requested where blocks need more than is granted.
func (Kernel) RequestsVMEM() bool { return true }
