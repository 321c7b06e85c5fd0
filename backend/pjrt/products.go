package pjrt

import (
	"matladder/chips"
	"matladder/problem"
	"matladder/tile"
)

// productRoundoff bounds how far a product of float32 operands is off on a device of
// a kind, relative to itself, beyond what its accumulator rounds.
//
// A TPU multiplies bfloat16. At default precision float32 operands are rounded to
// it: 2⁻⁸ each, twice 2⁻⁸ together. At the highest each is the sum of three
// bfloat16, and six of the nine products are added: those that are left out are
// below 2⁻²³ together, and the six sums round more often than one. A GPU rounds
// operands to TF32, which has 10 bits behind the point: 2⁻¹⁰ each if it cuts them
// off.
func productRoundoff(kind string, p problem.Problem) float64 {
	asked := p.Asked()
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
