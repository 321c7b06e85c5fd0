// Package rows is the second rung of softmax: whole rows stay in fast memory from their
// first use to their last.
package rows

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a softmax in one pass over memory.
var Kernel = problem.Rung[problem.Softmax]{
	Number: 2, Name: "v2_rows",
	Supports: problem.Softmax.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of few rows to many.
func blocks(p problem.Softmax, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 16}, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128})
}

// build writes the kernel as a tile program.
func build(p problem.Softmax, _ string, s tile.Blocks) ([]*tile.Program, error) {
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
