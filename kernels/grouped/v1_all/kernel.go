// Package all is the first rung of grouped products: each block of rows meets the
// matrices of all groups.
package all

import (
	"matladder/kernels/grouped/shapes"
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies every row by every matrix, and keeps what belongs together.
var Kernel = problem.Rung[problem.Grouped]{
	Number: 1, Name: "v1_all",
	Supports: problem.Grouped.Validate, Blocks: shapes.Candidates, Build: build,
}

// build writes the kernel as a tile program.
func build(p problem.Grouped, _ string, s tile.Blocks) ([]*tile.Program, error) {
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
