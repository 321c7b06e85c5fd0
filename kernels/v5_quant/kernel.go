// Package quantized is the fifth rung: narrow operands, a wide accumulator in
// scratch, and an epilogue that scales and casts once.
package quantized

import (
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies narrow blocks and accumulates wide.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 5 }

// Name is the folder's.
func (Kernel) Name() string { return "v5_quant" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Matmul) error { return p.Scaled() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Matmul) []string { return []string{""} }

// Candidates has the fourth rung's sweep, and larger blocks where they fit.
func (Kernel) Candidates(p problem.Matmul, m tile.Machine) []tile.Blocks {
	return tile.Candidates(p.M, p.K, p.N, slices.Concat(sweep, fitting(p, m, large))...)
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Matmul, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v5_quant")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	scale := scales(t, p)
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", p.Acc, s.M, s.N)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b, tile.AtPrecision(p.Precision)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(scale(acc), p.Out)) })
	return t.Programs()
}
