package plan

import (
	"slices"

	"matladder/backend/cpu/internal/gemm"
)

// A Strategy is a way for products to read B.
type Strategy struct {
	Read gemm.ReadB
	Word string // of --param b=
	what string // for people
	Most int    // rows of A up to which it is worth a look of the tuner: twice those up to which it has paid on any machine
}

// Strategies are all of them. Of a B that lies in memory as it is multiplied, each costs
// what its micro-kernel was measured to take (Figures), and the cheapest is taken.
var Strategies = []Strategy{
	{gemm.ReadPacked, "packed", "packed whole", gemm.AllRows},
	{gemm.ReadTiles, "tiles", "read in place by register tiles", 96},
	{gemm.ReadStreams, "streams", "read in place along its rows", 8},
	{gemm.ReadPieces, "pieces", "packed piece by piece into L2", 256},
	{gemm.ReadAlong, "along", "read in place by register tiles, which widen it", 96},
	{gemm.ReadDots, "dots", "read in place, its columns being rows of memory", 16},
}

// strategyOf is that which reads B in a way.
func strategyOf(read gemm.ReadB) Strategy {
	return Strategies[slices.IndexFunc(Strategies, func(s Strategy) bool { return s.Read == read })]
}

// An Option is a strategy for one B, and the seconds that one core would take of a launch,
// while others are at work too, for reading and multiplying all of it.
type Option struct {
	Strategy
	Seconds float64
}
