// Package ex11 is the exercise of lesson 11: a scale for every 32 elements of k.
//
// a is float32. b is float4_e2m1fn codes, and 32 neighbours of a column share a scale, a power
// of two: an element of b stands for its code times the scale of its group.
package ex11

import (
	"matladder/problem"
	"matladder/tile"
)

// Group is how many elements of k share a scale.
const Group = 32

// Bits is how many bits an element takes on average: its code of so many bits, and its part of
// a scale that group elements share.
func Bits(code, scale, group int) float64 {
	return 0 // YOUR TURN
}

// Scale is the scale of a group whose largest magnitude is absmax: the largest power of two that
// is not above absmax, over the largest power of two that is a code, which is 4.
func Scale(absmax float64) float64 {
	return 1 // YOUR TURN
}

// Build writes the kernel; bk is a multiple of Group. As it stands it takes the scale of the
// first group of a block for all of them.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex11")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	sb := t.In("sb", tile.Float8E8M0FNU, tile.Array(p.K/Group, 1, p.N), tile.Block(s.K/Group, tile.Squeezed, s.N).At(k, tile.Const(0), j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	// YOUR TURN: t.Loop("g", count, func(g *tile.Axis) { … }) goes through the groups of a block.
	// A group begins at tile.Times(g, Group), for g is no number.
	scale := tile.Slice(sb, 0, tile.Const(0), 1)
	sum := tile.Dot(a, tile.Cast(b, p.A))
	t.Accumulate(acc, tile.Mul(sum, tile.Cast(scale, tile.Float32)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })
	return t.Programs()
}
