// Package ex3 is the exercise of lesson 3: zero at the wrong step.
//
// The kernel is v3's: each block of o is the sum of one product for every step
// along k, added up in the output block, which must be zero before the first.
package ex3

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel. As it stands it zeroes o at every step.
func Build(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex3")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))

	t.Fill(o, 0) // YOUR TURN: at which step?
	t.Accumulate(o, tile.Dot(a, b))
	return t.Programs()
}

// Who finds the mistake? Verify reads the program without running it; Reference
// runs it and compares the result with float64 arithmetic; Nothing finds it.
const (
	Verify    = "verify"
	Reference = "reference"
	Nothing   = "nothing"
)

// Your answers: the first check that finds a kernel that zeroes o …
const (
	Never     = "?" // YOUR TURN: … at no step
	AtTheLast = "?" // YOUR TURN: … at the last step along k instead of the first
	AtEvery   = "?" // YOUR TURN: … at every step
	OneBlock  = "?" // YOUR TURN: … at every step, tested with k in a single block
)
