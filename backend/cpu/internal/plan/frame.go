package plan

import (
	"fmt"

	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// A Frame is what a program of the grid sees of the worker that runs it: where in the grid
// it is, where its blocks lie, and memory for its values.
type Frame struct {
	Plan   *Plan
	IDs    []int    // program ids, by axis of the grid
	Places []Place  // by ref
	Data   [][]byte // by ref: the array, or scratch
	Mem    []byte   // the worker's own
	Rows   []byte   // of mem: row vectors

	Coordinates []int // of the device, by axis of the mesh

	Row, Col   int // of the piece of a product in hand
	Seen       Seen
	Wide       []Widened         // by ref
	Prefetches []memory.Prefetch // of a row loop: rows of its strip after this one

	Pieces int      // computed so far: the number of the one in hand
	Shared []Shared // values of the piece in hand that others share

	Programs int // that it has been in: memos of one are not those of another
	Memos    []Memo
}

var _ tile.Env = (*Frame)(nil)

// Piece says which elements of which row, or of how many that are stacked.
type Piece struct{ Number, Row, Col, N int }

// Shared is a value that several need of one piece.
type Shared struct {
	Of     Piece
	Values []float32
}

// Place is where the current block of a ref lies.
type Place struct {
	Block      int // number of the block in its array; -1 before the first
	Off        int // of its first element
	Rows, Cols int // of it inside the array
}

// Ask asks memory for a part of what comes after this strip: at each piece of a row that is
// gone over.
func (f *Frame) Ask() {
	for i := range f.Prefetches {
		f.Prefetches[i].Ask()
	}
}

// ProgramError is a mistake that only running shows; it ends the run.
type ProgramError struct{ Err error }

// ProgramID makes f a tile.Env.
func (f *Frame) ProgramID(a *tile.Axis) int {
	for i, x := range f.Plan.Program.Grid {
		if x == a {
			return f.IDs[i]
		}
	}
	for i, x := range f.Plan.Program.Mesh {
		if x == a && i < len(f.Coordinates) {
			return f.Coordinates[i]
		} else if x == a {
			return 0 // of one device
		}
	}
	panic("cpu: " + a.Name + " is not an axis of " + f.Plan.Program.Name)
}

// TableValue makes f a tile.Env.
func (f *Frame) TableValue(t *tile.Ref, i int) int {
	values := memory.View[int32](f.Data[f.Plan.Number(t)])
	if i < 0 || i >= len(values) {
		panic(ProgramError{Err: fmt.Errorf("%s: %s: no element %d in table %s of %d", t.Pos, f.Plan.Program.Name, i, t.Name, len(values))})
	}
	return int(values[i])
}
