// Package ex5 is the solution of exercise 5.
package ex5

import (
	"matladder/problem"
	"matladder/tile"
)

// Roundings is one for each block of k.
func Roundings(k, bk int) int {
	return tile.Ceil(k, bk)
}

// Build writes the kernel.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex5")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", p.Acc, s.M, s.N) // float32: 24 significant bits

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })
	return t.Programs()
}
