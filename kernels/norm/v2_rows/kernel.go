// Package rows is the second rung of norm: whole rows stay in fast memory from
// their first use to their last.
package rows

import (
	blocks "matladder/kernels/norm/rows"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes a norm in one pass over memory, and three over rows that are there.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 2 }

// Name is the folder's.
func (Kernel) Name() string { return "v2_rows" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Norm) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Norm) []string { return []string{""} }

// Candidates has blocks of few rows to many.
func (Kernel) Candidates(p problem.Norm, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 16}, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128})
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Norm, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_rows")
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	b := blocks.See(t, p, i, s.M)
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
