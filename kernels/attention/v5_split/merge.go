package split

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// partsOf is an array of what parts of the keys come to, so many columns for each, and the
// block of one part: a row of each of the heads that share keys.
func partsOf(p problem.Attention, parts, cols int) (tile.ArrayShape, tile.BlockSpec) {
	return tile.Array(p.Batch, p.KVHeads, p.Rows, parts, p.Group(), cols),
		tile.Block(tile.Squeezed, tile.Squeezed, tile.Squeezed, tile.Squeezed, p.Group(), cols)
}

// merge adds up what the parts came to as v3 adds up blocks, relative to the largest score so far.
func merge(p problem.Attention, parts int) *tile.Builder {
	t, n, zero := tile.New("v5_merge"), p.Group(), tile.Const(0)
	b, g, i := t.Axis("b", p.Batch, tile.Parallel), t.Axis("g", p.KVHeads, tile.Parallel), t.Axis("i", p.Rows, tile.Parallel)
	x := t.Axis("x", parts, tile.Arbitrary)
	in := func(name string, cols int) *tile.Ref {
		array, block := partsOf(p, parts, cols)
		return t.In(name, tile.Float32, array, block.At(b, g, i, x, zero, zero))
	}
	column := func(name string) *tile.Ref { return t.Scratch(name, tile.Float32, n, 1) }
	tops, sums, values := in("tops", 1), in("sums", 1), in("parts", p.ValueDim)
	acc, top, next, sum := t.Scratch("acc", tile.Float32, n, p.ValueDim), column("top"), column("next"), column("sum")
	r := scores.New(t, p, scores.At{Batch: b, Head: g, Row: i, BQ: n, Stacked: true})
	r.Outputs()

	t.When(x.First(), func() {
		r.Begin(top, sum) // with the sink, which is of no part
		t.Fill(acc, 0)
	})
	t.Store(next, tile.Max(top, tops))
	shrink, weight := r.Power(tile.Sub(top, next)), r.Power(tile.Sub(tops, next))
	t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.Mul(sums, weight)))
	t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Mul(values, weight)))
	t.Store(top, next)
	t.When(x.Last(), func() {
		t.Store(r.O, r.Divided(acc, sum))
		r.End(top, sum)
	})
	return t
}
