package plan

import (
	"iter"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// Step is a statement as a worker executes it. What is decided of it in one place is a struct
// that is written there alone (a test of package passes compares).
type Step struct {
	Matched
	Fused
	Written
	Compiled
	Grouped
	Readied
	Sized
}

// Matched is what a step is; a pass that makes one of several writes it again.
type Matched struct {
	Stmt *tile.Stmt
	Kind StepKind
	Cond tile.Cond // when: run body where it holds
	Body []*Step   // and steps that go along rows together, or through them in strips
	Dst  int       // fill and compute: ref
	Dots []*Dot
}

// Fused is what a step does for those that stood in front of it.
type Fused struct {
	Zeroed  tile.Cond // accumulate: dst counts as zero where it holds; nil for never
	Through *tile.Ref // scratch that held the product before; nil for none
}

// Written is how a product comes to its destination.
type Written struct {
	Direct   bool       // by the micro-kernel, which leaves nothing to do
	Rescaled *tile.Expr // dst with a factor for each row, to which the product is added; nil for none
}

// Compiled is the epilogue.
type Compiled struct {
	Store     Writer                                // dst = value
	Add       Writer                                // dst = dst + value
	Lanes     int                                   // of a row, that these do at once
	StoreRows func(w *Frame, row, col, rows, n int) // store of the same columns of several rows; nil if that takes rows one by one
	AtOnce    int                                   // rows that it does in one call, or fewer
	Down      func(w *Frame, row, n int)            // store, of a destination whose one column lies in one piece
	Loads     []int                                 // refs of bfloat16 that it computes with
	Passes    int                                   // pieces of each row that it goes over, one after the other
	Sums      int                                   // of chains, each of a strip in one call
	Keeps     bool                                  // rows of its destination as float32, for steps that go along them, too
	Span      Span                                  // masked store: columns where its value is not constant along the row
	Rescale   func(w *Frame, row, col, rows, n int) // dst = Rescaled, as StoreRows
}

// Grouped is how steps go along rows together, or through them in strips.
type Grouped struct {
	Strip int   // rows that they do at once
	Band  *Band // strips: the columns that there is something to do for
	Adds  []int // of strips with a band: refs of it whose elements along rows are added, or multiplied with
}

// Readied is what steps that go along rows together have ready of memory.
type Readied struct {
	Widens []int // refs of bfloat16 of which a strip's rows are widened ahead of it
	Asks   []int // inputs whose rows memory is asked for ahead
}

// Sized is how much of a product is computed at once.
type Sized struct{ Rows, Cols int }

// StepKind is what a step does.
type StepKind uint8

const (
	StepFill StepKind = iota
	StepCompute
	StepWhen
	StepRowLoop
	StepStrips
)

// IsProduct reports whether the value is a product and no more, in dst's own dtype, which begins
// at a panel of rows.
func (s *Step) IsProduct() bool {
	v := s.Stmt.Value
	return v.Op == tile.OpDot && v.Dtype == s.Stmt.Ref.Dtype && (!s.Stmt.IsPart() || s.Stmt.From == tile.Const(0))
}

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
	Groups  *Groups       // of k whose elements have scales; nil if there are none
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

// AllDots are the products of every step, in that order.
func (p *Plan) AllDots() iter.Seq2[*Step, *Dot] {
	return func(yield func(*Step, *Dot) bool) {
		goOn := true
		AllSteps(p.Steps, func(s *Step) {
			for i := 0; goOn && i < len(s.Dots); i++ {
				goOn = yield(s, s.Dots[i])
			}
		})
	}
}

// VectorLanes is how many elements a row vector has.
const VectorLanes = 1024

// Lanes computes elements col … col+n-1 of row row of a value, relative to the
// destination's block; n is at most the columns or, where rows are stacked, whole rows from
// column 0 on. The result holds until the same Lanes is called again.
type Lanes[T any] func(w *Frame, row, col, n int) []T

// Writer computes and writes elements col … col+n-1 of a row of the destination.
type Writer func(w *Frame, row, col, n int)

// Scales are what a product is multiplied by and what is added to it as it is written:
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
