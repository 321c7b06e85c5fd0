// Package ex11 is the solution of exercise 11.
package ex11

import (
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Group is how many elements of k share a scale.
const Group = 32

// Bits counts a scale once for a group.
func Bits(code, scale, group int) float64 { return float64(code) + float64(scale)/float64(group) }

// Scale drops what is not a power of two. With 7.9 the largest code would have to be 7.9; it is
// 6, so such a number saturates.
func Scale(absmax float64) float64 { return math.Exp2(math.Floor(math.Log2(absmax))) / 4 }

// Build writes the kernel.
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
	t.Loop("g", s.K/Group, func(g *tile.Axis) {
		from := tile.Times(g, Group)
		scale := tile.Slice(sb, 0, g, 1)
		sum := tile.Dot(tile.Slice(a, 1, from, Group), tile.Cast(tile.Slice(b, 0, from, Group), p.A))
		t.Accumulate(acc, tile.Mul(sum, tile.Cast(scale, tile.Float32)))
	})
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })
	return t.Programs()
}
