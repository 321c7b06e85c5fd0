package blocking

import (
	"matladder/problem"
	"matladder/tile"
)

// rankRegisters lists shapes of a product whose accumulator fits half of the registers of a
// multiprocessor: the rest is for what surrounds it. bk only has to fill what one load brings,
// 128 bytes of a row of A. Shapes of more rows than p has come but once.
func rankRegisters(p problem.Problem, given tile.Blocks) []tile.Blocks {
	const most, rowBytes = 128 << 10, 128
	x, ok := p.(problem.Matmul)
	if !ok {
		return nil
	}
	var list []tile.Blocks
	for _, b := range []tile.Blocks{{M: 128, N: 256}, {M: 256, N: 128}, {M: 128, N: 128}, {M: 64, N: 256}, {M: 64, N: 128}, {M: 64, N: 64}, {M: 16, N: 64}} {
		b.K = rowBytes * 8 / x.A.Bits()
		if x.Acc.Bytes(int64(b.M)*int64(b.N)) <= most && (b.M < 2*x.M || b.M == 16) && matches(b, given) {
			list = append(list, b)
		}
	}
	return list
}
