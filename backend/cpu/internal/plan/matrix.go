package plan

import (
	"slices"

	"matladder/tile"
)

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
func (r *Matrix) BlockCount() int {
	n := 1
	for _, b := range r.BlocksAlong {
		n *= b
	}
	return n
}

// InRow is a number of elements that blocks of r and rows of the array both begin
// at multiples of.
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

// WrittenOnce reports whether r is an output each of whose blocks is seen by one
// program only.
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
