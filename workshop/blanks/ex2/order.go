// Package ex2 is the exercise of lesson 2: the order of a loop.
//
// The kernel is v2's: row panels of a times column panels of b. The axes are
// parallel, so any order is right. But one core goes through them like nested
// loops, the axis declared last being the innermost, and a panel is brought in
// again whenever it is not the one of the step before.
package ex2

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel for a b that is much larger than a.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex2")
	// YOUR TURN: this order brings in all of b for every i
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(zero, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.Store(o, tile.Cast(tile.Dot(a, b), p.Out))
	return t.Programs()
}
