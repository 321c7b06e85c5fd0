// Package skip is the fourth rung of attention: the third's pass goes over those blocks of
// keys alone that a block of rows sees some of, and masks those alone that it sees in part.
package skip

import (
	"matladder/kernels/attention/scores"
	flash "matladder/kernels/attention/v3_flash"
	"matladder/problem"
	"matladder/tile"
)

// Kernel skips what causality and the window hide.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 4 }

// Name is the folder's.
func (Kernel) Name() string { return "v4_skip" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Attention) error { return scores.Beside(p) }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Attention) []string { return []string{""} }

// Candidates has the sweep.
func (Kernel) Candidates(p problem.Attention, m tile.Machine) []tile.Blocks {
	return scores.Candidates(p, m)
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v4_skip")
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	seen := scores.RangeOf(p, i, s)
	j := t.Axis("j", seen.Most, tile.Arbitrary)

	// Past the last block the number stays, and nothing is brought in.
	key := tile.Plus(seen.First, j)
	there := tile.AtLeast(tile.AtMost(key, seen.Last), tile.Const(0))
	r := scores.All(t, p, scores.At{Batch: b, Head: h, Row: i, Key: there, BQ: s.M, BK: s.K, Piece: scores.Piece(s)})
	begin, step, end := flash.Pass(t, p, r, s)
	t.When(j.First(), begin)
	whole, some := scores.Whole(p, i, there, s), tile.Test(key, tile.LE, seen.Last)
	t.When(tile.All(some, whole), func() { step((*scores.Refs).Whole) })
	t.When(tile.All(some, tile.Not(whole)), func() { step((*scores.Refs).Seen) })
	t.When(j.Last(), end)
	return t.Programs()
}
