// Package rows is the second rung of norm: whole rows stay in fast memory from
// their first use to their last.
package rows

import (
	norm "matladder/kernels/norm/rows"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a norm in one pass over memory, and three over rows that are there.
var Kernel = problem.Rung[problem.Norm]{
	Number: 2, Name: "v2_rows",
	Supports: problem.Norm.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of few rows to many.
func blocks(p problem.Norm, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 16}, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128})
}

// build writes the kernel as a tile program.
func build(p problem.Norm, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_rows")
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	b := norm.See(t, p, i, s.M)
	inverse := t.Scratch("inverse", tile.Float32, s.M, 1)

	x := b.Kept()
	if !p.RMS {
		mean := t.Scratch("mean", tile.Float32, s.M, 1)
		t.Store(mean, b.Mean(x))
		x = tile.Sub(x, mean)
	}
	t.Store(inverse, b.Inverse(b.Mean(tile.Mul(x, x))))
	b.End(tile.Mul(x, inverse))
	return t.Programs()
}
