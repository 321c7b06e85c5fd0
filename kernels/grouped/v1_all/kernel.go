// Package all is the first rung of grouped products: each block of rows meets the
// matrices of all groups.
package all

import (
	"matladder/kernels/grouped/shapes"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies every row by every matrix, and keeps what belongs together.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 1 }

// Name is the folder's.
func (Kernel) Name() string { return "v1_all" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Grouped) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Grouped) []string { return []string{""} }

// Candidates has blocks of many rows, for few groups to meet a block twice, and the sweep.
func (Kernel) Candidates(p problem.Grouped, m problem.Machine) []tile.Blocks {
	return shapes.Candidates(p, m)
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Grouped, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_all")
	offsets := t.Table("offsets", p.Groups+1)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	g := t.Axis("g", p.Groups, tile.Arbitrary)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	x := t.In("x", p.Dtype, tile.Array(p.Rows, p.K), tile.Block(s.M, s.K).At(i, k))
	w := t.In("w", p.Dtype, tile.Array(p.Groups, p.K, p.N), tile.Block(tile.Squeezed, s.K, s.N).At(g, k, j))
	o := t.Out("o", p.Dtype, tile.Array(p.Rows, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	row := func(group tile.IndexExpr) tile.IndexExpr { return tile.Plus(offsets.At(group), tile.Times(i, -s.M)) }

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, w))
	t.When(k.Last(), func() { t.StoreRows(o, row(g), row(tile.Plus(g, tile.Const(1))), tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}
