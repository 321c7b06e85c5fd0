// Package skip is the fourth rung of attention: the third's pass goes over those blocks of
// keys alone that a block of rows sees some of, and masks those alone that it sees in part.
// It ends with the keys that an example has, and finds them in pages, too: a chunk of new rows
// goes over what a model keeps of the ones before.
package skip

import (
	"matladder/kernels/attention/scores"
	flash "matladder/kernels/attention/v3_flash"
	"matladder/problem"
	"matladder/tile"
)

// Kernel skips what causality and the window hide.
var Kernel = problem.Rung[problem.Attention]{
	Number: 4, Name: "v4_skip",
	Supports: problem.Attention.Validate, Blocks: scores.Candidates, Build: build,
}

// build writes the kernel as a tile program.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	if err := scores.OfOnePage(p, s); err != nil {
		return nil, err
	}
	t := tile.New("v4_skip")
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	seen := scores.RangeOf(p, i, s)
	j := t.Axis("j", seen.Most, tile.Arbitrary)

	// Past the last block the number stays, and nothing is brought in.
	key := tile.Plus(seen.First, j)
	r := scores.New(t, p, scores.At{Batch: b, Head: h, Row: i, BQ: s.M, BK: s.K, Piece: scores.Piece(s)})
	last := r.Until(seen.Last)
	there := tile.AtLeast(tile.AtMost(key, last), tile.Const(0))
	r.See(there)
	r.Declare()
	begin, step, end := flash.Pass(t, p, r, s)
	t.When(j.First(), begin)
	whole, some := scores.Whole(p, i, there, s), tile.Test(key, tile.LE, last)
	t.When(tile.All(some, whole), func() { step((*scores.Refs).Whole) })
	t.When(tile.All(some, tile.Not(whole)), func() { step((*scores.Refs).Seen) })
	t.When(j.Last(), end)
	return scores.Programs(p, t)
}
