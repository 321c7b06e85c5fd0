// Package ex6 is the exercise of lesson 6: scales in the epilogue.
//
// a and b are int8 codes. An element of a stands for sa times its code, with one
// sa for all of a; an element of b for sb times its code, with an sb for each
// column. So o = sa · sb · (sum of products of codes).
package ex6

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel. As it stands it takes the scale of column 0 for every
// column.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex6")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	sa := t.In("sa", tile.Float32, tile.Array(1, 1), tile.Block(1, 1).At(zero, zero))
	sb := t.In("sb", tile.Float32, tile.Array(1, p.N), tile.Block(1, 1).At(zero, zero)) // YOUR TURN: block shape and index map
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", p.Acc, s.M, s.N)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(k.Last(), func() {
		scaled := tile.Mul(tile.Cast(acc, tile.Float32), tile.Mul(sa, sb))
		t.Store(o, tile.Cast(scaled, p.Out))
	})
	return t.Programs()
}
