// Package flash is the third rung of attention: one pass over blocks of keys, with the
// largest score and the sum so far of each row.
package flash

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// Kernel never has more scores than those of one block.
var Kernel = problem.Rung[problem.Attention]{
	Number: 3, Name: "v3_flash",
	Supports: scores.Beside, Blocks: scores.Candidates, Build: build,
}

// build writes the kernel as a tile program.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v3_flash")
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.Keys, s.K), tile.Arbitrary)

	r := scores.All(t, p, scores.At{Batch: b, Head: h, Row: i, Key: j, BQ: s.M, BK: s.K, Piece: scores.Piece(s)})
	begin, step, end := Pass(t, p, r, s)
	t.When(j.First(), begin)
	step((*scores.Refs).Seen)
	t.When(j.Last(), end)
	return scores.Programs(p, t)
}

// Pass is what this rung does to a block of rows: before the first block of keys, with the
// scores of each, or of pieces of it, and after the last. The rungs above do it to fewer blocks.
func Pass(t *tile.Builder, p problem.Attention, r *scores.Refs, s tile.Blocks) (begin func(), step func(of func(*scores.Refs) *tile.Expr), end func()) {
	acc, top, sum, step := Over(t, p, r, s)
	return func() {
			r.Begin(top, sum)
			t.Fill(acc, 0)
			r.TurnRows()
		}, step, func() {
			t.Store(r.O, r.Divided(acc, sum))
			r.End(top, sum)
		}
}

// Over is what passes from one block of keys to the next, and a step with the scores of one.
func Over(t *tile.Builder, p problem.Attention, r *scores.Refs, s tile.Blocks) (acc, top, sum *tile.Ref, step func(of func(*scores.Refs) *tile.Expr)) {
	x := t.Scratch("s", tile.Float32, s.M, scores.Piece(s))
	acc = t.Scratch("acc", tile.Float32, s.M, p.ValueDim)
	top = t.Scratch("top", tile.Float32, s.M, 1)
	next := t.Scratch("next", tile.Float32, s.M, 1)
	sum = t.Scratch("sum", tile.Float32, s.M, 1)
	return acc, top, sum, func(of func(*scores.Refs) *tile.Expr) {
		r.Each(func(r *scores.Refs) {
			t.Store(x, of(r))
			t.Store(next, tile.Max(top, tile.RowMax(x)))
			t.Store(x, r.Power(tile.Sub(x, next)))
			shrink := r.Power(tile.Sub(top, next))
			t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.RowSum(x)))
			t.Store(acc, tile.Add(tile.Mul(acc, shrink), r.Times(tile.Cast(x, p.Dtype))))
			t.Store(top, next)
		})
	}
}
