package cpu

import (
	"fmt"

	"matladder/tile"
)

// A frame is what a program of the grid sees of the worker that runs it: where in the grid
// it is, where its blocks lie, and memory for its values.
type frame struct {
	plan   *plan
	ids    []int    // program ids, by axis of the grid
	places []place  // by ref
	data   [][]byte // by ref: the array, or scratch
	mem    []byte   // the worker's own
	rows   []byte   // of mem: row vectors

	row, col int // of the piece of a product in hand
}

var _ tile.Env = (*frame)(nil)

// place is where the current block of a ref lies.
type place struct {
	block      int // number of the block in its array; -1 before the first
	off        int // of its first element
	rows, cols int // of it inside the array
}

// programError is a mistake that only running shows; it ends the run.
type programError struct{ err error }

// ProgramID makes frame a tile.Env.
func (f *frame) ProgramID(a *tile.Axis) int {
	for i, x := range f.plan.program.Grid {
		if x == a {
			return f.ids[i]
		}
	}
	panic("cpu: " + a.Name + " is not an axis of " + f.plan.program.Name)
}

// TableValue makes frame a tile.Env.
func (f *frame) TableValue(t *tile.Ref, i int) int {
	values := view[int32](f.data[f.plan.ref(t)])
	if i < 0 || i >= len(values) {
		panic(programError{fmt.Errorf("%s: %s: no element %d in table %s of %d", t.Pos, f.plan.program.Name, i, t.Name, len(values))})
	}
	return int(values[i])
}
