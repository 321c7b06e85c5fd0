// Package ex8 is the solution of exercise 8.
package ex8

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel. Where a block has a larger score, what was added up before is
// too large by e^(next−top).
func Build(p problem.Attention, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex8")
	h := t.Axis("h", p.Heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.Keys, s.K), tile.Arbitrary)
	zero, one := tile.Const(0), tile.Squeezed

	q := t.In("q", p.Dtype, tile.Array(1, p.Heads, p.Rows, p.Dim), tile.Block(one, one, s.M, p.Dim).At(zero, h, i, zero))
	k := t.In("k", p.Dtype, tile.Array(1, p.Heads, p.Keys, p.Dim), tile.Block(one, one, s.K, p.Dim).At(zero, h, j, zero))
	v := t.In("v", p.Dtype, tile.Array(1, p.Heads, p.Keys, p.Dim), tile.Block(one, one, s.K, p.Dim).At(zero, h, j, zero))
	o := t.Out("o", p.Dtype, tile.Array(1, p.Heads, p.Rows, p.Dim), tile.Block(one, one, s.M, p.Dim).At(zero, h, i, zero))

	x := t.Scratch("s", tile.Float32, s.M, s.K)
	acc := t.Scratch("acc", tile.Float32, s.M, p.Dim)
	top := t.Scratch("top", tile.Float32, s.M, 1)   // the largest score of blocks before this one
	next := t.Scratch("next", tile.Float32, s.M, 1) // and with this one
	sum := t.Scratch("sum", tile.Float32, s.M, 1)

	t.When(j.First(), func() {
		t.Fill(top, math.Inf(-1))
		t.Fill(sum, 0)
		t.Fill(acc, 0)
	})
	t.Store(x, tile.Mul(tile.Dot(q, k, tile.TransB), tile.Number(p.Scaled())))
	t.Store(next, tile.Max(top, tile.RowMax(x)))
	t.Store(x, tile.Exp(tile.Sub(x, next)))
	shrink := tile.Exp(tile.Sub(top, next))
	t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.RowSum(x)))
	t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Dot(x, v)))
	t.Store(top, next)
	t.When(j.Last(), func() { t.Store(o, tile.Div(acc, sum)) })
	return t.Programs()
}
