// Package ex8 is the exercise of lesson 8: softmax in one pass.
//
// A row of o is the mean of all rows of v, weighed by e^score over the sum of these
// powers. A step sees the scores of one block of keys, subtracts the largest that it
// knows of from them, so that no power overflows, and adds what comes of them to sum and
// acc. The next block may have a larger one.
package ex8

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel. As it stands sum and acc add up powers from which different
// numbers were subtracted.
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
	t.Store(sum, tile.Add(sum, tile.RowSum(x))) // YOUR TURN
	t.Store(acc, tile.Add(acc, tile.Dot(x, v))) // YOUR TURN
	t.Store(top, next)
	t.When(j.Last(), func() { t.Store(o, tile.Div(acc, sum)) })
	return t.Programs()
}
