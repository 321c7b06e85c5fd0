// Package ex9 is the exercise of lesson 9: a model that decodes.
//
// One row of q for each head; Group heads share one head of k and v. As it stands each
// program takes one head, brings in the keys and values that it shares with others, and the
// next program brings the same ones in again.
package ex9

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel.
func Build(p problem.Attention, s tile.Blocks) ([]*tile.Program, error) {
	together := 1 // YOUR TURN: heads of q that a program takes at once

	t := tile.New("ex9")
	h := t.Axis("h", p.Heads/together, tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.Keys, s.K), tile.Arbitrary)
	zero, one := tile.Const(0), tile.Squeezed
	shared := tile.FloorDiv(tile.Times(h, together), p.Group()) // the head of k and v that they share

	rows := tile.Block(one, together, one, p.Dim).At(zero, h, zero, zero)
	keys := tile.Block(one, one, s.K, p.Dim).At(zero, shared, j, zero)
	q := t.In("q", p.Dtype, tile.Array(1, p.Heads, 1, p.Dim), rows)
	k := t.In("k", p.Dtype, tile.Array(1, p.KVHeads, p.Keys, p.Dim), keys)
	v := t.In("v", p.Dtype, tile.Array(1, p.KVHeads, p.Keys, p.Dim), keys)
	o := t.Out("o", p.Dtype, tile.Array(1, p.Heads, 1, p.Dim), rows)

	x := t.Scratch("s", tile.Float32, together, s.K)
	acc := t.Scratch("acc", tile.Float32, together, p.Dim)
	top := t.Scratch("top", tile.Float32, together, 1)
	next := t.Scratch("next", tile.Float32, together, 1)
	sum := t.Scratch("sum", tile.Float32, together, 1)

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
