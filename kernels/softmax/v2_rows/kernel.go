// Package rows is the second rung of softmax: whole rows stay in fast memory from their
// first use to their last.
package rows

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a softmax in one pass over memory.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 2 }

// Name is the folder's.
func (Kernel) Name() string { return "v2_rows" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Softmax) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Softmax) []string { return []string{""} }

// Candidates has blocks of few rows to many.
func (Kernel) Candidates(p problem.Softmax, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 16}, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128})
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Softmax, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_rows")
	i, all := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel), tile.Const(0)

	x := t.In("x", p.X, tile.Array(p.Rows, p.Cols), tile.Block(s.M, p.Cols).At(i, all))
	o := t.Out("o", p.Out, tile.Array(p.Rows, p.Cols), tile.Block(s.M, p.Cols).At(i, all))
	m := t.Scratch("m", tile.Float32, s.M, 1)
	e := t.Scratch("e", tile.Float32, s.M, p.Cols)
	sum := t.Scratch("sum", tile.Float32, s.M, 1)

	t.Store(m, tile.RowMax(tile.Cast(x, tile.Float32)))
	t.Store(e, tile.Exp(tile.Sub(tile.Cast(x, tile.Float32), m)))
	t.Store(sum, tile.RowSum(e))
	t.Store(o, tile.Cast(tile.Div(e, sum), p.Out))
	return t.Programs()
}
