// Package written is the first rung of attention: scores and probabilities are arrays,
// each made by a program of its own.
package written

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// Kernel writes all scores to memory.
var Kernel = problem.Rung[problem.Attention]{
	Number: 1, Name: "v1_scores",
	Supports: scores.Beside, Blocks: blocks, Build: build,
}

// blocks has one shape.
func blocks(p problem.Attention, _ problem.Machine) []tile.Blocks {
	return []tile.Blocks{problem.Clip(p, tile.Blocks{M: 128, K: 512})}
}

// build writes the kernel as three programs: scores, softmax of rows, product with v.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	all, n, zero := tile.Array(p.Batch, p.Heads, p.Rows, p.Keys), min(s.M, 8), tile.Const(0)
	block, rows := tile.Block(tile.Squeezed, tile.Squeezed, s.M, s.K), tile.Block(tile.Squeezed, tile.Squeezed, n, p.Keys)
	grid := func(t *tile.Builder, bq int) (b, h, i *tile.Axis) {
		b, h = t.Axis("b", p.Batch, tile.Parallel), t.Axis("h", p.Heads, tile.Parallel)
		return b, h, t.Axis("i", tile.Ceil(p.Rows, bq), tile.Parallel)
	}

	scored := tile.New("v1_scores")
	t := scored
	b, h, i := grid(t, s.M)
	j := t.Axis("j", tile.Ceil(p.Keys, s.K), tile.Parallel)
	r := scores.New(t, p, scores.At{Batch: b, Head: h, Row: i, Key: j, BQ: s.M, BK: s.K})
	r.Products()
	r.Turn()
	t.Store(t.Out("s", tile.Float32, all, block.At(b, h, i, j)), r.Seen())

	softmax := tile.New("v1_softmax")
	t = softmax
	b, h, i = grid(t, n)
	r = scores.New(t, p, scores.At{Batch: b, Head: h, Row: i, BQ: n})
	x := t.In("s", tile.Float32, all, rows.At(b, h, i, zero))
	o := t.Out("p", p.Dtype, all, rows.At(b, h, i, zero))
	r.Sums()
	first, top, sum := t.Scratch("first", tile.Float32, n, 1), t.Scratch("top", tile.Float32, n, 1), t.Scratch("sum", tile.Float32, n, 1)
	r.Begin(first, sum)
	t.Store(top, tile.Max(first, tile.RowMax(x)))
	power := r.Power(tile.Sub(x, top))
	t.Store(sum, tile.Add(tile.Mul(sum, r.Power(tile.Sub(first, top))), tile.RowSum(power)))
	t.Store(o, r.Divided(power, sum))
	r.End(top, sum)

	t = tile.New("v1_values")
	b, h, i = grid(t, s.M)
	j = t.Axis("j", tile.Ceil(p.Keys, s.K), tile.Arbitrary)
	r = scores.New(t, p, scores.At{Batch: b, Head: h, Row: i, Key: j, BQ: s.M, BK: s.K})
	weights := t.In("p", p.Dtype, all, block.At(b, h, i, j))
	r.Values()
	out := t.Out("o", p.Dtype, tile.Array(p.Batch, p.Heads, p.Rows, p.ValueDim), tile.Block(tile.Squeezed, tile.Squeezed, s.M, p.ValueDim).At(b, h, i, zero))
	acc := t.Scratch("acc", tile.Float32, s.M, p.ValueDim)
	t.When(j.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, r.Times(weights))
	t.When(j.Last(), func() { t.Store(out, tile.Cast(acc, p.Dtype)) })
	return scores.Programs(p, scored, softmax, t)
}
