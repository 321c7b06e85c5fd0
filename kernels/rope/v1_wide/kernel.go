// Package wide is the first rung of rope: x times the cosines, and x with the columns of each pair
// changed over times the sines.
package wide

import (
	"matladder/kernels/rope/turn"
	"matladder/problem"
	"matladder/tile"
)

// Kernel turns each head by tables that have a column for each of x.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 1 }

// Name is the folder's.
func (Kernel) Name() string { return "v1_wide" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Rope) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Rope) []string { return []string{""} }

// Candidates has one: 64 rows at a time, or all.
func (Kernel) Candidates(p problem.Rope, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: min(64, p.Rows)})
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Rope, _ string, s tile.Blocks) ([]*tile.Program, error) {
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
