// Package ex2 is the solution of exercise 2.
package ex2

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel for a b that is much larger than a.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex2")
	// With i innermost a panel of b stays while all of a goes by: b is read once,
	// and a, the small one, again for every j.
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(zero, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.Store(o, tile.Cast(tile.Dot(a, b), p.Out))
	return t.Programs()
}
