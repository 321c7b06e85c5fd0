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
	{gemm.ReadColumns, "columns", "its few columns copied or read in place, for rows of A as they lie", 0},
	{gemm.ReadLoops, "loops", "read in place by three loops, down its columns", 0},
	{gemm.ReadRows, "rows", "read in place by three loops, along its rows", 0},
	{gemm.ReadVectors, "vectors", "read in place, as A is, for one row of A at a time", 0},
	{gemm.ReadRegisters, "registers", "read in place, as A is, by register tiles", 0},
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

// Choices are decisions of the passes that are asked for, in place of rules that were
// found by measuring on some machines. Where one makes no sense the rule stands.
type Choices struct {
	gemm.Choices
	ReadA  ReadA
	WriteC WriteC
	Whole  bool // operands are packed whole, and the loops around register tiles are not divided for caches
	Alone  bool // one worker computes all
}

// ReadA is how an a is read whose rows tiles could read as they lie.
type ReadA uint8

const (
	ReadAByRule ReadA = iota
	ReadAPacked
	ReadARows
)

// WriteC is how tiles write an output that is written once.
type WriteC uint8

const (
	WriteByRule      WriteC = iota
	WriteCached             // each register tile where it belongs
	WriteCopied             // to where its rows follow each other, and from there beside the next products
	WriteNonTemporal        // so too, by non-temporal stores
)
