// Package sparse is the sixth rung of attention: tables list the blocks of scores that are
// computed, so that the grid is as long as the list, and which they are is data.
package sparse

import (
	"matladder/kernels/attention/scores"
	flash "matladder/kernels/attention/v3_flash"
	"matladder/problem"
	"matladder/tile"
)

// Kernel computes the listed blocks, and nothing for the others.
var Kernel = problem.Rung[problem.Attention]{
	Number: 6, Name: "v6_sparse",
	Supports: scores.Beside, Blocks: scores.Candidates, Build: build,
}

// build writes the kernel as a tile program; scores.ListOf makes its tables.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v6_sparse")
	most := scores.Most(p, s)
	blocks, rows, keys := t.Table("blocks", 1), t.Table("row_block", most), t.Table("key_block", most)
	kind, begins, ends := t.Table("kind", most), t.Table("begins", most), t.Table("ends", most)
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	n := t.BoundedAxis("n", most, tile.Arbitrary, blocks.At(tile.Const(0)))
	is := func(table *tile.Ref, x int) tile.Cond { return tile.Test(table.At(n), tile.EQ, tile.Const(x)) }

	r := scores.All(t, p, scores.At{Batch: b, Head: h, Row: rows.At(n), Key: keys.At(n), BQ: s.M, BK: s.K, Piece: scores.Piece(s), Listed: true})
	begin, step, end := flash.Pass(t, p, r, s)
	t.When(is(begins, 1), begin)
	t.When(is(kind, scores.Every), func() { step((*scores.Refs).Whole) })
	t.When(is(kind, scores.Part), func() { step((*scores.Refs).Seen) })
	t.When(is(ends, 1), end)
	return scores.Programs(p, t)
}
