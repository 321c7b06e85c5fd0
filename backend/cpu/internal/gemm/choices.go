package gemm

import "slices"

// Choices are decisions of a table made otherwise than by its rules, which were found
// by measuring on some machines. The zero value leaves all to the rules; what a path
// cannot do is left to them too.
type Choices struct {
	B      ReadB // for all numbers of rows of a
	Run    int   // elements of k that a register tile runs over, at most; 0 for the rule
	PieceA int   // bytes of a that stay in L2 while panels of b pass; 0 for the rule

	quick int // rows of a up to which an InPlace is used, and then a quick one; 0 for the rule
}

// A ReadB is a way to read B, or none in particular.
type ReadB uint8

const (
	ReadByRule  ReadB = iota
	ReadPacked        // packed as a whole
	ReadTiles         // in place: register tiles read its rows
	ReadStreams       // in place: row of A after row of A, along its rows (GEMV)
	ReadPieces        // pieces of it are packed, one at a time
	ReadAlong         // in place: register tiles go along its rows and widen it, an InPlace
	ReadColumns       // few columns are copied, and multiplied along rows of A as they lie
	ReadDots          // in place, its columns being rows of memory: products along these are summed

	// The ways of Strided, which reads A in place too.
	ReadLoops     // three loops, the innermost down a column
	ReadRows      // loops in another order, the innermost along a row
	ReadVectors   // one row of A by a vector or two of columns: their sums stay in registers
	ReadRegisters // so many rows of A as there are registers for
)

// AllRows is more than any a has: up to so many rows a way that is asked for pays.
const AllRows = 1 << 30

// A ReadCost is what a product takes of a core for each element of B, in seconds, as
// measured while other cores did the same.
type ReadCost struct {
	Pack     float64 // once: to pack it as a whole; 0 for what reads it where it lies
	Multiply float64 // for as many rows of A as were measured
}

// CanRead reports whether this path reads B in a way.
func (p *MicroKernels[S, C]) CanRead(read ReadB) bool {
	switch read {
	case ReadPacked:
		return true
	case ReadTiles:
		return p.direct.tiles != nil
	case ReadStreams:
		return p.direct.tiles != nil && p.stream.run != nil
	case ReadPieces:
		return p.direct.pieces.steps > 0
	case ReadDots:
		return p.dots.run != nil
	case ReadColumns:
		return p.kernel.gemv.run != nil && (p.kernel.gemv.widens || p.ReadsA(p.KU))
	}
	return false
}

// MostRead is the most rows of A that ReadCosts measures.
const MostRead = 256

// With returns the table with choices. It only keeps them: who multiplies gives them to a path
// by MicroKernels.With.
func (k *Kernels) With(c Choices) *Kernels {
	with := *k
	with.Choices = c
	return &with
}

// With is p with choices.
func (p *MicroKernels[S, C]) With(c Choices) *MicroKernels[S, C] {
	q := *p
	if q.Choices = c; c.Run > 0 {
		run := max(1, c.Run/p.KU)
		q.blocking.steps, q.direct.steps = run, run
		q.direct.pieces.steps = min(p.direct.pieces.steps, run) // there they stay in L2
	}
	if c.PieceA > 0 {
		q.blocking.bytes, q.blocking.held = c.PieceA, 0
	}
	if c.B != ReadByRule || c.quick > 0 {
		q.InPlace = map[string]*InPlace[C]{}
		for name, x := range p.InPlace {
			if x.isFor(c) {
				q.InPlace[name] = x.with(c)
			}
		}
	}
	if c.B != ReadByRule && c.B != ReadAlong {
		q.InGroups = nil
	}
	return &q
}

// isAsked reports whether B is to be read in one of some ways, in which this path can.
func (p *MicroKernels[S, C]) isAsked(reads ...ReadB) bool {
	return slices.Contains(reads, p.Choices.B) && p.CanRead(p.Choices.B)
}

// isFor reports whether p reads b in the way asked for; others leave b to be widened first.
func (p *InPlace[C]) isFor(c Choices) bool {
	switch c.B {
	case ReadByRule:
		return p.quick.tile != nil
	case ReadPieces:
		return p.pieces.tile != nil
	}
	return c.B == ReadAlong
}

func (p *InPlace[C]) with(c Choices) *InPlace[C] {
	q := *p
	switch c.B {
	case ReadByRule:
		q.Pays = min(q.Pays, c.quick)
	case ReadAlong:
		q.Pays, q.pieces.rows = AllRows, 0
	case ReadPieces:
		q.Pays, q.pieces.rows = AllRows, 1
	}
	return &q
}
