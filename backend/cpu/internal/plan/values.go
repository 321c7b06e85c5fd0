package plan

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// VectorLanes is how many elements a row vector has.
const VectorLanes = 1024

// Lanes computes elements col … col+n-1 of row row of a value, relative to the
// destination's block; n is at most the columns or, where rows are stacked, whole rows from
// column 0 on. The result holds until the same Lanes is called again.
type Lanes[T any] func(w *Frame, row, col, n int) []T

// Writer computes and writes elements col … col+n-1 of a row of the destination.
type Writer func(w *Frame, row, col, n int)

// Scales are what a product is multiplied by and what is added to it as it is
// written:
//
//	product · factor of the row · factor of the column · last factor of the row + term of the column
type Scales struct {
	Row, Column, Last, Term *tile.Expr // blocks as large as the product; nil for 1, 1, 1 and -0
	Narrow                  bool       // then it is rounded to bfloat16
	Plain                   bool       // it is only that

	RowsOf, LastOf     Lanes[float32] // their values, those of rows one below the other
	ColumnsOf, TermsOf Lanes[float32]
	Mem                memory.Region // of a worker's memory
	Rows, Cols         int           // of a piece
}
