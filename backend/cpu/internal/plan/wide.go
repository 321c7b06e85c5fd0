package plan

import (
	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// A Wide is bfloat16 that steps that go along rows together read several times: rows are
// widened once for all of them, and once for all rows if there is only one.
type Wide struct {
	Ref int
	Mem memory.Region // of a worker's memory
}

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
