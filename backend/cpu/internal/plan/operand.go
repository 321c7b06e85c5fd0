package plan

import (
	"slices"

	"matladder/backend/cpu/internal/memory"
	"matladder/model/blocking"
	"matladder/tile"
)

// Operand is a ref as one side of products: blocks of it are packed in chunks
// of depth elements of k, each chunk in panels of Packing.Lanes lanes.
type Operand struct {
	Ref     int
	IsB     bool
	Columns bool // the lanes are the columns of memory
	Packing Packing
	Factor  tile.Dtype // in products
	Lanes   int        // of a whole block: rows of a, or columns of b
	K       int        // of a whole block
	Part    int        // elements of k, of which slices are and begin at multiples; all of the block's without them
	Shown   Shown
	Scales  GroupScales // of groups of elements of k, by which packing multiplies them
	Group   int         // elements of k in one
	Depth   int
	Chunk   int // bytes from chunk to chunk
	Block   int // bytes of a whole block

	StoredRows bool   // a: only the rows that a step stores are packed, when it has found them
	Packed     string // a: why its rows are not loaded as they lie

	Meets, Pays int // b: rows of a that meet a block of it, times their elements of k; and up to how many rows it is not packed

	Keep   Keep
	Far    bool   // KeepUnpacked: it comes from beyond L2
	Why    string // keep
	Room   int64  // bytes that were left to choose keep by
	Counts bool   // packing a block of it counts as loading one
	Slots  int    // blocks kept
	Down   [2]int // KeepAll of a matrix that products go down: its blocks along k and beside; else 0
	// Follows: blocks that one program after another sees have numbers that do, too.
	Follows bool
	Mem     memory.Region // shared: of the executable's memory; else of a worker's
	Piece   int           // not kept: lanes packed, or widened, at once
	Deep    bool          // KeepPiece: all chunks of a piece are packed together
}

// Shown is which elements of k of a block count: the others are taken as zero, whatever is there.
// All do where From is nil.
type Shown struct{ From, To tile.IndexExpr }

// Groups are those of so many elements along k, of both sides of a product, that have scales.
type Groups struct {
	Size    int
	A, B    GroupScales
	InPlace bool // b is read where it lies, and sums are multiplied by its scales
}

// GroupScales are those of the block of an operand: row by row of a, or below each other for columns
// of b, the first group's at column or row At of the block of ref. There are none where At is nil.
type GroupScales struct {
	Ref  int
	At   tile.IndexExpr
	Read *Widening // to float32
}

// Keep is where packed blocks of an operand stay.
type Keep uint8

const (
	// KeepPiece: nowhere; pieces are packed when the product needs them.
	KeepPiece Keep = iota
	// KeepUnpacked: nothing is packed; the product reads the array.
	KeepUnpacked
	// KeepOwn: each worker keeps the last blocks it packed.
	KeepOwn
	// KeepAll: one cache for all workers holds every block of the array.
	KeepAll
	// KeepGroup: one cache for all workers holds the blocks that a group of
	// tasks needs; the groups run one after another.
	KeepGroup
)

// Slot is where a block of KeepAll is kept: those of one column follow each other, as a
// program that goes down k reads them.
func (o *Operand) Slot(block int) int {
	if o.Down == [2]int{} {
		return block
	}
	down, beside := o.Down[0], o.Down[1]
	row, column := block/beside, block%beside
	return (row/down*beside+column)*down + row%down
}

// UnitBytes is about how much of a block one worker packs at once of those that share it.
const UnitBytes = blocking.UnitBytes

// Why an operand's blocks are kept as they are.
const (
	WhyScratch = "scratch may change from step to step"
	WhyStored  = "scratch, packed when it has been stored"
	WhyOnce    = "no two programs see the same block"
	WhyAll     = "all its blocks fit"
	WhyGroup   = "not all its blocks fit, but those of a group of tasks"
	WhyAlone   = "cheaper than synchronizing"
	WhyTask    = "the blocks of one task fit"
	WhyLast    = "one block fits"
	WhyColumns = "those of one column fit, and each worker has columns of its own"
	WhyPacked  = "they are packed ahead of launches"
	WhyBatch   = "those of one matrix fit, and each worker has matrices of its own"
	WhyNamed   = "a table names the next one, and no two tasks see the same block"
	WhyLarge   = "not even one block fits"
)

// Widened reports whether a b that is not packed is widened before it is
// multiplied, and not by the micro-kernel.
func (o *Operand) Widened() bool { return o.Packing.Widening != nil && !o.Packing.InPlace }

// WideStride is how many factors rows of a piece lie apart: whole lines, and not
// so that those of one column fall into one set of the cache.
func (o *Operand) WideStride() int {
	line := 64 / o.Packing.Widening.Size
	return (tile.Ceil(o.Piece, line) | 1) * line
}

// StrideOf is how far rows of a b that is not packed are apart where micro-kernels read
// it, in elements.
func (p *Plan) StrideOf(b *Operand) int {
	if b.Widened() {
		return b.WideStride()
	}
	return p.Refs[b.Ref].LD
}

// Matrix is a ref whose block is seen as a matrix of rows that lie ld elements
// apart; one of rank 1 is a row.
type Matrix struct {
	*tile.Ref
	Rows, Cols     int // of a whole block
	RowDim, ColDim int // dimensions of the array that rows and columns run along; -1 for none
	Strides        []int
	BlocksAlong    []int
	LD             int
	Merged         bool  // scratch that nothing is stored in any more
	CountedPacked  bool  // its blocks count as loaded when they are packed, not when they change
	Packed         []int // scratch: operands that keep it packed until something else is stored
}

// Strides are how many elements lie from one index of each dimension to the next, in an array
// without gaps.
func Strides(array []int) []int {
	strides, n := make([]int, len(array)), 1
	for d := len(array) - 1; d >= 0; d-- {
		strides[d], n = n, n*array[d]
	}
	return strides
}

// Dim is the dimension of the array that the rows of a block are counted along,
// or else its columns; -1 for none.
func (r *Matrix) Dim(rows bool) int {
	if rows {
		return r.RowDim
	}
	return r.ColDim
}

// Lanes is how many rows of a whole block there are, or else columns.
func (r *Matrix) Lanes(rows bool) int {
	if rows {
		return r.Rows
	}
	return r.Cols
}

// BlockCount is how many blocks the array has.
func (r *Matrix) BlockCount() int { return int(tile.Elements(r.BlocksAlong)) }

// InRow is a number of elements that blocks of r and rows of the array both begin at multiples of.
func (r *Matrix) InRow() int {
	n := r.LD
	for i := range r.Index {
		n = GCD(n, r.Step(i)*r.Strides[i])
	}
	return n
}

// Place is where a block lies, by its number.
func (r *Matrix) Place(block int) Place {
	at := Place{Block: block, Rows: 1, Cols: 1}
	for d := len(r.BlocksAlong) - 1; d >= 0; d-- {
		r.Along(&at, d, block%r.BlocksAlong[d])
		block /= r.BlocksAlong[d]
	}
	return at
}

// Along has a place say where block b along a dimension lies.
func (r *Matrix) Along(at *Place, d, b int) {
	at.Off += b * r.Step(d) * r.Strides[d]
	switch d {
	case r.RowDim:
		at.Rows = r.Inside(d, b)
	case r.ColDim:
		at.Cols = r.Inside(d, b)
	}
}

// WrittenOnce reports whether r is an output each of whose blocks is seen by one program only.
func (p *Plan) WrittenOnce(r *Matrix) bool {
	if r.Kind != tile.Out || !tile.TableFree(r.Index...) {
		return false
	}
	return !slices.ContainsFunc(p.Program.Grid, func(a *tile.Axis) bool { return a.Size > 1 && !r.DependsOn(a) })
}

// GCD is the greatest common divisor.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// LCM is the least common multiple.
func LCM(a, b int) int { return a / GCD(a, b) * b }
