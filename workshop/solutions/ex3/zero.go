// Package ex3 is the solution of exercise 3.
package ex3

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex3")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.When(k.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b))
	return t.Programs()
}

// The checks, from the cheapest on.
const (
	Verify    = "verify"
	Reference = "reference"
	Nothing   = "nothing"
)

// Memory starts out undefined, so Verify refuses whatever adds to a block before
// it is filled, the first two. Filling too often is a legal program that
// computes something else: only the result shows it, and only where k has more
// than one block. A test that passes on one small shape proves little.
const (
	Never     = Verify
	AtTheLast = Verify
	AtEvery   = Reference
	OneBlock  = Nothing
)
