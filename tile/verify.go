package tile

import (
	"errors"
	"fmt"
	"strings"
)

// Verify returns what is wrong with the program, as *Error values joined, or nil.
//
// It refuses what no machine could run, and what would run but be wrong where programs run at the
// same time, where memory starts out undefined, or where an array ends inside a block. It decides
// over all program ids without running anything: index maps of plain axes and constants in constant
// time, others by counting through the axes they use, up to a bound past which it refuses.
//
// What depends on a scalar table cannot be decided here. An output whose index map looks one up
// is not checked for visits, coverage and first fills; a When whose condition looks one up counts
// as run, an axis with a bound as run to its end, and a store of rows that a table chooses as one
// of all. Package interp checks all of it. It also tells which elements no store of some rows
// reaches: here a block of an output counts as written if a part of it is.
//
// Of copies it follows every one, on all devices of a mesh in two orders, by vector
// clocks: each is waited for once, before anything touches what it reads or writes, and
// before the grid ends (verify_flight.go says how far).
func (p *Program) Verify() error {
	v := &verifier{program: p}
	for _, stage := range stages {
		for _, rule := range stage {
			rule(v)
		}
		if len(v.errs) > 0 {
			return errors.Join(v.errs...)
		}
	}
	return nil
}

// stages are the rules, each in a function of its own. Those of a stage rely on
// what all earlier stages have accepted.
var stages = [][]func(*verifier){
	{ // verify_ref.go: the parts on their own
		gridAxes,
		gridSize,
		refNames,
		refDims,
		overlaps,
		refDtypes,
		memorySize,
		buffers,
		meshAxes,
		semaphores,
	},
	{ // verify_stmt.go, verify_expr.go, verify_copy.go: how they fit together
		axisBounds,
		indexMaps,
		statements,
		mainRefs,
	},
	{ // verify_range.go: indices, over every program id
		blockIndices,
		tableIndices,
		sliceBounds,
		copyBounds,
	},
	{ // verify_visit.go: which program sees which block of an output
		outputVisits,
	},
	{ // verify_fill.go: memory is written, and before it is read
		outputWritten,
		scratchFilled,
		outputFilled,
	},
	{ // verify_partial.go: padding stays out of results
		reductions,
		contractions,
		paddingStored,
	},
	{ // verify_flight.go: what copies and waits do to each other
		flights,
	},
}

// verifier is one run over a program.
type verifier struct {
	program *Program
	sites   []site      // every statement, in order; made by the rule statements
	values  []valueSite // every expression of every statement, operands first; made with sites
	errs    []error

	partial *PartialTiles // of padding()
}

// site is a statement with what it stands inside of.
type site struct {
	*Stmt
	conds []Cond
	loops []*Axis
}

// errorf notes a mistake made at pos.
func (v *verifier) errorf(pos Pos, format string, args ...any) {
	if len(v.errs) < maxErrors {
		v.errs = append(v.errs, &Error{pos, v.program.Name, fmt.Sprintf(format, args...)})
	}
}

// describe names a ref with its block and array.
func describe(r *Ref) string {
	switch r.Kind {
	case In, Out:
		return fmt.Sprintf("%s: block [%s] of array %s[%s]", r.Name, blockString(r.Block), r.Dtype, shapeString(r.Array))
	}
	return fmt.Sprintf("%s: %s %s[%s]", r.Name, r.Kind, r.Dtype, shapeString(r.Array))
}

// blockString prints a block shape, squeezed dimensions as a word.
func blockString(block []int) string {
	sizes := make([]string, len(block))
	for i, d := range block {
		sizes[i] = fmt.Sprint(d)
		if d == Squeezed {
			sizes[i] = "squeezed"
		}
	}
	return strings.Join(sizes, ", ")
}
