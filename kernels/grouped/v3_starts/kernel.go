// Package starts is the third rung of grouped products: blocks of rows that begin where
// their group does, so that none is of two groups.
package starts

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Kernel cuts the rows of each group by themselves.
var Kernel = problem.Rung[problem.Grouped]{
	Number: 3, Name: "v3_starts",
	Supports: problem.Grouped.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of many rows, for few groups to meet a block twice, and the sweep.
func blocks(p problem.Grouped, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 512, K: p.K, N: 512}, tile.Blocks{M: 1024, K: p.K, N: 512},
		tile.Blocks{M: 128, K: 128, N: 128}, tile.Blocks{M: 256, K: 512, N: 512}, tile.Blocks{M: 512, K: 1024, N: 1024})
}

// build writes the kernel as a tile program.
func build(p problem.Grouped, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v3_starts")
	most := (p.Rows + p.Groups*(s.M-1)) / s.M // each group may have one that it does not fill
	offsets, tiles := t.Table("offsets", p.Groups+1), t.Table(fmt.Sprintf("tiles_%d", s.M), 1)
	first, owner := t.Table(fmt.Sprintf("first_%d", s.M), most), t.Table(fmt.Sprintf("owner_%d", s.M), most)
	v := t.BoundedAxis("v", most, tile.Parallel, tiles.At(tile.Const(0)))
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
	row, g := first.At(v), owner.At(v)

	x := t.In("x", p.Dtype, tile.Array(p.Rows, p.K), tile.Block(s.M, s.K).At(row, k).Every(1, s.K))
	w := t.In("w", p.Dtype, tile.Array(p.Groups, p.K, p.N), tile.Block(tile.Squeezed, s.K, s.N).At(g, k, j))
	o := t.Out("o", p.Dtype, tile.Array(p.Rows, p.N), tile.Block(s.M, s.N).At(row, j).Every(1, s.N))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)
	end := tile.Plus(offsets.At(tile.Plus(g, tile.Const(1))), tile.Times(row, -1))

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, w))
	t.When(k.Last(), func() { t.StoreRows(o, tile.Const(0), end, tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}
