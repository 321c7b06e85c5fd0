package pjrt

import (
	"matladder/chips"
	"matladder/problem"
	"matladder/tile"
)

// productRoundoff bounds how far a product of float32 or float8 operands is off on a
// device of a kind, relative to itself, beyond what its accumulator rounds.
//
// A TPU multiplies bfloat16. At default precision float32 operands are rounded to
// it: 2⁻⁸ each, twice 2⁻⁸ together. At the highest each is the sum of three
// bfloat16, and six of the nine products are added: those that are left out are
// below 2⁻²³ together, and the six sums round more often than one. A GPU rounds
// operands to TF32, which has 10 bits behind the point: 2⁻¹⁰ each if it cuts them
// off.
//
// Tensor cores add products of float8 in sums that keep about 14 bits and cut the rest
// off, 32 products at a time on Hopper: of 4096 products the sum is off by up to 2 %
// (DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2). A sum of k terms of any
// sign is about 6·√k of them at most, and is cut k/32 times by 2⁻¹³: 6·√k·2⁻¹⁸ of all
// terms, 2⁻⁸ for 2¹⁴ of them. At the highest precision such sums go to float32 after each
// step, or each few.
func productRoundoff(kind string, p problem.Problem) float64 {
	asked := p.Asked()
	if float8 := asked.A.IsFloat() && asked.A.Bits() == 8 && asked.B.IsFloat() && asked.B.Bits() == 8; float8 && kind == chips.GPU {
		if asked.Precision == tile.Highest {
			return 0x1p-11
		}
		return 0x1p-8
	}
	if asked.A != tile.Float32 && asked.B != tile.Float32 {
		return 0
	}
	highest := asked.Precision == tile.Highest
	switch {
	case kind == chips.TPU && highest:
		return 0x1p-21
	case kind == chips.TPU:
		return 0x1.02p-7
	case kind == chips.GPU && !highest:
		return 0x1.01p-9
	}
	return 0
}
