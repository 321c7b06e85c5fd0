package pjrt

import (
	"math"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// productRoundoff bounds how far a product of float32 or float8 operands is off on a
// device of a kind, relative to itself, beyond what its accumulator rounds.
//
// A TPU multiplies bfloat16. At default precision float32 operands are rounded to it: 2⁻⁸ each,
// twice 2⁻⁸ together. At the highest each is the sum of three bfloat16, and six of the nine
// products are added: those that are left out are below 2⁻²³ together, and the six sums round
// more often than one. A GPU rounds operands to TF32, which has 10 bits behind the point: 2⁻¹⁰
// each if it cuts them off.
//
// Tensor cores of Hopper and Ada add products of float8 to the sum so far 32 or 16 at a
// time, in fixed point: all are cut off 13 bits below the leading bit of the largest, and
// so is their sum (Xie et al., "MMA-Sim", arXiv 2511.10909, bit for bit what an H100 and an
// RTX 4090 give; 13 bits also Zhang et al., "SageAttention2", arXiv 2411.10958; "about 14",
// of which one leads, and 2 % off at k = 4096, DeepSeek-V3, arXiv 2412.19437, section
// 3.3.2). Of n terms with mean zero and root mean square s, Σ|a·b| being about 0.75·n·s,
//
//   - the sum is cut n/16 times, each time by 0.36·2⁻¹³ of itself on average; on the way to
//     the 6·√n·s that it is at most, it is half of that: √n·2⁻¹⁶ of Σ|a·b|,
//   - terms are cut by up to 0.72·2⁻¹³ of the sum, about √(n/2)·s, with errors of random
//     sign: six standard deviations of n of them are 2⁻¹¹.⁸ of Σ|a·b|; the first steps,
//     where one term may be the largest, are below 2⁻¹¹.
//
// n is k by default, where what the tensor cores hold is not promoted. At the highest
// precision it goes to float32 each 32 terms in Triton, and periodically in cuBLAS, which
// does not say how often: CUTLASS and DeepSeek's kernels do so each 128. Blackwell cuts off
// nothing that float32 would keep (MMA-Sim): what is allowed is more than it needs.
func productRoundoff(kind string, p problem.Problem) float64 {
	asked := p.Asked()
	if float8 := asked.A.IsFloat() && asked.A.Bits() == 8 && asked.B.IsFloat() && asked.B.Bits() == 8; float8 && kind == machine.GPU {
		n := 1 << 14 // of families that have no single k
		if m, ok := p.(problem.Matmul); ok {
			n = m.K
		}
		if asked.Precision == tile.Highest {
			n = min(n, 128)
		}
		return 0x1p-11 + 0x1p-16*math.Sqrt(float64(n))
	}
	if asked.A != tile.Float32 && asked.B != tile.Float32 {
		return 0
	}
	highest := asked.Precision == tile.Highest
	switch {
	case kind == machine.TPU && highest:
		return 0x1p-21
	case kind == machine.TPU:
		return 0x1.02p-7
	case kind == machine.GPU && !highest:
		return 0x1.01p-9
	}
	return 0
}
