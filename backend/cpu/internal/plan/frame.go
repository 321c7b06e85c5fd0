package plan

import (
	"fmt"
	"slices"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/rows"
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

	Row, Col   int // of the piece of a product in hand
	Seen       Seen
	Wide       []Widened         // by ref
	Prefetches []memory.Prefetch // of a row loop: rows of its strip after this one
	Chained    []rows.Chain

	Taping   bool // the launch, of which later ones then do the same; not if that depends on arrays
	Programs int  // that it has been in: memos of one are not those of another
	Memos    []Memo
}

var _ tile.Env = (*Frame)(nil)

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
	if i := slices.Index(f.Plan.Program.Grid, a); i >= 0 {
		return f.IDs[i]
	}
	if slices.Contains(f.Plan.Program.Mesh, a) {
		return 0 // of one device
	}
	panic("cpu: " + a.Name + " is not an axis of " + f.Plan.Program.Name)
}

// TableValue makes f a tile.Env.
func (f *Frame) TableValue(t *tile.Ref, i int) int {
	f.Taping = false
	values := memory.View[int32](f.Data[f.Plan.Number(t)])
	if i < 0 || i >= len(values) {
		panic(ProgramError{Err: fmt.Errorf("%s: %s: no element %d in table %s of %d", t.Pos, f.Plan.Program.Name, i, t.Name, len(values))})
	}
	return int(values[i])
}

// A Memo is a number that is the same in all of a program.
type Memo struct{ program, value int }

// Once is x, which is called once in each program, as rows all ask for it.
func (f *Frame) Once(memo int, x func(f *Frame) int) int {
	m := &f.Memos[memo]
	if m.program != f.Programs {
		*m = Memo{f.Programs, x(f)}
	}
	return m.value
}

// A Wide is bfloat16 that steps that go along rows together read several times: rows are
// widened once for all of them, and once for all rows if there is only one.
type Wide struct {
	Ref int
	Mem memory.Region // of a worker's memory
}

// WideRow is up to how many bytes rows are widened for several steps: they stay in the caches next
// to the core.
const WideRow = 64 << 10

// Widened are rows of a ref as float32.
type Widened struct {
	Data     []float32
	LD       int
	From, To int // rows
	Block    int // of one row, which stays from program to program; -1 for none
}

// Holds reports whether row is one of them.
func (x *Widened) Holds(row int) bool { return row >= x.From && row < x.To }

// Row is elements col … col+n-1 of a row.
func (x *Widened) Row(row, col, n int) []float32 { return x.Data[(row-x.From)*x.LD+col:][:n] }

// IsAlone reports whether r is an input whose block is one row: it changes as its block does.
func (p *Plan) IsAlone(r int) bool {
	x := &p.Refs[r]
	return x.Kind == tile.In && !x.Main && x.Rows == 1
}

// A Band is the columns in which a strip of rows of some refs has more than one number for
// each row. What attention masks has one: beyond a diagonal or a window all scores of a row
// are the same, its largest score needs one of them, their powers are equal, too, and those
// that are zero add nothing to sums and products. So steps go over the band, and one column
// beside it, which tells what number stands in all others.
type Band struct {
	Of   []bool // by ref, whether it is of those
	Cols int
	Span Span
	Unit int // columns: the band begins and ends at multiples, or with the block
}

// Span says from which column to before which one a row has more than one number; none if
// to is not behind from.
type Span func(f *Frame, row int) (from, to int)

// Seen is the band of the strip that is being computed: steps go over columns From … To-1,
// and those outside hold what column Beside holds. Band is nil where there is none.
type Seen struct {
	Band     *Band
	From, To int // columns
	Beside   int // one of them, which tells what stands in those that are not
}

// Columns is which of the columns of ref r, or of none at -1, a step goes over.
func (f *Frame) Columns(r, all int) (from, to int) {
	if b := f.Seen.Band; b != nil && r >= 0 && b.Of[r] {
		return f.Seen.From, f.Seen.To
	}
	return 0, all
}
