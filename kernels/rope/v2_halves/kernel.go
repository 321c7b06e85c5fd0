// Package halves is the second rung of rope: tables with a column for each pair, which stay
// in fast memory while all heads go by.
package halves

import (
	"matladder/kernels/rope/turn"
	"matladder/problem"
	"matladder/tile"
)

// Kernel turns the heads of a block of rows one after another; of one row, many heads at once.
var Kernel = problem.Rung[problem.Rope]{
	Number: 2, Name: "v2_halves",
	Supports: problem.Rope.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of few rows to many.
func blocks(p problem.Rope, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 32}, tile.Blocks{M: 64}, tile.Blocks{M: 128}, tile.Blocks{M: 256}, tile.Blocks{M: 512})
}

// build writes the kernel as a tile program.
func build(p problem.Rope, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_halves")
	block, headBlocks, rows := tile.Block(tile.Squeezed, tile.Squeezed, s.M, p.Dim), p.Heads, s.M
	if p.Rows == 1 { // as where a model decodes: the row of many heads at once
		block, headBlocks, rows = tile.Block(tile.Squeezed, s.M, tile.Squeezed, p.Dim), tile.Ceil(p.Heads, s.M), 1
	}
	i := t.Axis("i", tile.Ceil(p.Rows, rows), tile.Parallel)
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", headBlocks, tile.Parallel)
	zero, n := tile.Const(0), turn.Columns(p)

	all := tile.Array(p.Batch, p.Heads, p.Rows, p.Dim)
	x := tile.Cast(t.In("x", p.Dtype, all, block.At(b, h, i, zero)), tile.Float32)
	cos := t.In("cos", tile.Float32, tile.Array(p.Rows, n), tile.Block(rows, n).At(i, zero))
	sin := t.In("sin", tile.Float32, tile.Array(p.Rows, n), tile.Block(rows, n).At(i, zero))
	o := t.Out("o", p.Dtype, all, block.At(b, h, i, zero))

	t.Store(o, tile.Cast(turn.By(p, x, cos, sin), p.Dtype))
	return t.Programs()
}
