// Package wide is the first rung of rope: x times the cosines, and x with the columns of each pair
// changed over times the sines.
package wide

import (
	"matladder/kernels/rope/turn"
	"matladder/problem"
	"matladder/tile"
)

// Kernel turns each head by tables that have a column for each of x.
var Kernel = problem.Rung[problem.Rope]{
	Number: 1, Name: "v1_wide",
	Supports: problem.Rope.Validate, Blocks: blocks, Build: build,
}

// blocks has one: 64 rows at a time, or all.
func blocks(p problem.Rope, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: min(64, p.Rows)})
}

// build writes the kernel as a tile program.
func build(p problem.Rope, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_wide")
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	bm := min(s.M, p.Rows)
	i := t.Axis("i", tile.Ceil(p.Rows, bm), tile.Parallel)
	zero, n := tile.Const(0), p.Turned()

	all, rows := tile.Array(p.Batch, p.Heads, p.Rows, p.Dim), tile.Block(tile.Squeezed, tile.Squeezed, bm, p.Dim).At(b, h, i, zero)
	x := tile.Cast(t.In("x", p.Dtype, all, rows), tile.Float32)
	cos := t.In("cos", tile.Float32, tile.Array(p.Rows, n), tile.Block(bm, n).At(i, zero))
	sin := t.In("sin", tile.Float32, tile.Array(p.Rows, n), tile.Block(bm, n).At(i, zero))
	o := t.Out("o", p.Dtype, all, rows)

	turned := turn.Turned(p, x)
	turned = tile.Add(tile.Mul(turned, cos), tile.Mul(turn.Others(p, turned), sin))
	t.Store(o, tile.Cast(turn.WithRest(p, x, turned), p.Dtype))
	return t.Programs()
}
