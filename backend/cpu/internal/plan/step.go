package plan

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// Step is a statement as a worker executes it.
type Step struct {
	Stmt *tile.Stmt
	Kind StepKind
	Cond tile.Cond // when: run body where it holds
	Body []*Step   // and steps that go along rows together, or through them in strips

	Dst       int       // fill and compute: ref
	Zeroed    tile.Cond // accumulate: dst counts as zero where it holds; nil for never
	Dots      []*Dot
	Direct    bool                                  // the only dot is the value, in dst's own dtype: no epilogue
	Store     Writer                                // epilogue: dst = value
	Add       Writer                                // epilogue: dst = dst + value
	Lanes     int                                   // of a row, that these do at once
	StoreRows func(w *Frame, row, col, rows, n int) // store of the same columns of several rows; nil if that takes rows one by one
	AtOnce    int                                   // rows that it does in one call, or fewer
	Down      func(w *Frame, row, n int)            // store, of a destination whose one column lies in one piece
	Strip     int                                   // rows that steps that go along rows together do at once
	Loads     []int                                 // refs of bfloat16 that it computes with
	Widens    []int                                 // those of which a strip's rows are widened ahead of it
	Passes    int                                   // pieces of each row that it goes over, one after the other
	Asks      []int                                 // of steps that go along rows together: inputs whose rows memory is asked for ahead
	Span      Span                                  // masked store: columns where its value is not constant along the row
	Band      *Band                                 // strips: the columns that there is something to do for
	Adds      []int                                 // of strips with a band: refs of it whose elements along rows are added, or multiplied with

	Factor   *tile.Expr     // of rows of dst, to which the product is added; nil for none
	Rescaled Lanes[float32] // its values, down the rows

	Rows, Cols int // of the piece of a product that is computed at once

	Through *tile.Ref // fuse: scratch that held the product before; nil for none
}

// StepKind is what a step does.
type StepKind uint8

const (
	StepFill StepKind = iota
	StepCompute
	StepWhen
	StepRowLoop
	StepStrips
)

// DotOf is the product that e is; nil if it is none of the step's.
func (s *Step) DotOf(e *tile.Expr) *Dot {
	for _, d := range s.Dots {
		if d.Expr == e {
			return d
		}
	}
	return nil
}

// Dot is a product inside a step's value.
type Dot struct {
	Expr    *tile.Expr
	Product *Product
	Options []Option      // how B may be read, the cheapest first; none where there is nothing to choose
	Thin    *Product      // that reads b in place for few rows of a, which product need not
	A, B    int           // operands
	K0, K1  int           // of the blocks' elements of k
	Temp    memory.Region // of a worker's memory: the piece computed; unless the step is direct
	LD      int           // elements from row to row of temp
	Scales  *Scales       // of what its sums are scaled and rounded by as they are written; nil if they are not
	Write   gemm.Write
}

// AllSteps calls f on every step, outer ones first.
func AllSteps(steps []*Step, f func(*Step)) {
	for _, s := range steps {
		f(s)
		AllSteps(s.Body, f)
	}
}
