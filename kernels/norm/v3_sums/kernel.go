// Package sums is the third rung of norm: the sums of a row and of its
// squares, which need not wait for each other.
package sums

import (
	"errors"

	"matladder/kernels/norm/rows"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a norm in one pass over memory, and two over rows that are there.
var Kernel = problem.Rung[problem.Norm]{
	Number: 3, Name: "v3_sums",
	Supports: supports, Blocks: blocks, Build: build,
}

// supports returns why p is not for this kernel, or nil.
func supports(p problem.Norm) error {
	if p.RMS {
		return errors.New("an RMS norm has no mean that its squares could wait for: v2_rows is all there is to it")
	}
	return p.Validate()
}

// blocks has blocks of few rows to many.
func blocks(p problem.Norm, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 16}, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128})
}

// build writes the kernel as a tile program.
func build(p problem.Norm, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v3_sums")
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	b := rows.See(t, p, i, s.M)
	column := func(name string) *tile.Ref { return t.Scratch(name, tile.Float32, s.M, 1) }
	shift, mean, square, inverse := column("shift"), column("mean"), column("square"), column("inverse")

	// Sums are of x less about its mean, that of the first elements: of what lies far from
	// zero, mean squares and squared means are the same number but for their last digits.
	x, first := b.Kept(), min(p.Cols, 128)
	t.Store(shift, tile.Mul(tile.RowSum(tile.Slice(x, 1, tile.Const(0), first)), tile.Number(1/float64(first))))
	x = tile.Sub(x, shift)
	t.Store(mean, b.Mean(x))
	t.Store(square, b.Mean(tile.Mul(x, x)))
	t.Store(inverse, b.Inverse(tile.Max(tile.Sub(square, tile.Mul(mean, mean)), tile.Number(0))))
	b.End(tile.Mul(tile.Sub(x, mean), inverse))
	return t.Programs()
}
