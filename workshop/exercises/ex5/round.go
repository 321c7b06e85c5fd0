// Package ex5 is the exercise of lesson 5: round once.
//
// Operands and result are bfloat16, a format with 8 significant bits. The kernel
// is v4's, which adds up in the output block: at every step along k the sum is
// rounded to bfloat16.
package ex5

import (
	"matladder/problem"
	"matladder/tile"
)

// Roundings is how many times this kernel, as it stands, rounds each element of o
// to bfloat16, if it cuts k into blocks of bk.
func Roundings(k, bk int) int {
	return 0 // YOUR TURN
}

// Build writes the kernel. Make it round once, whatever k is.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex5")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	// YOUR TURN: t.Scratch declares an accumulator of another dtype; p.Acc is float32

	t.When(k.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b))
	return t.Programs()
}
