// Package visits is the second rung of grouped products: a list of the blocks of rows with
// the groups that have rows in them, which is data.
package visits

import (
	"fmt"

	"matladder/kernels/grouped/shapes"
	"matladder/problem"
	"matladder/tile"
)

// Kernel goes along the list, as megablox does.
var Kernel = problem.Rung[problem.Grouped]{
	Number: 2, Name: "v2_visits",
	Supports: problem.Grouped.Validate, Blocks: shapes.Candidates, Build: build,
}

// build writes the kernel as a tile program.
func build(p problem.Grouped, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_visits")
	blocks := tile.Ceil(p.Rows, s.M)
	most := blocks + p.Groups - 1
	offsets, visits := t.Table("offsets", p.Groups+1), t.Table(fmt.Sprintf("visits_%d", s.M), 1)
	block, group := t.Table(fmt.Sprintf("block_%d", s.M), most), t.Table(fmt.Sprintf("group_%d", s.M), most)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	v := t.BoundedAxis("v", most, tile.Arbitrary, visits.At(tile.Const(0)))
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
	i, g := block.At(v), group.At(v)

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
