package split

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// merge adds up what the parts of the keys came to, each weighted by how its largest score
// compares with that of all: arrays of shape, with so many parts of each row.
func merge(p problem.Attention, parts int, shape func(cols int) tile.ArrayShape) ([]*tile.Program, error) {
	t := tile.New("v5_merge")
	b, h, i := t.Axis("b", p.Batch, tile.Parallel), t.Axis("h", p.Heads, tile.Parallel), t.Axis("i", p.Rows, tile.Parallel)
	zero := tile.Const(0)
	in := func(name string, cols int) *tile.Ref {
		return t.In(name, tile.Float32, shape(cols), tile.Block(tile.Squeezed, tile.Squeezed, tile.Squeezed, parts, cols).At(b, h, i, zero, zero))
	}
	number := func(name string) *tile.Ref { return t.Scratch(name, tile.Float32, 1, 1) }
	tops, sums, values := in("tops", 1), in("sums", 1), in("parts", p.ValueDim)
	before, top, sum := number("before"), number("top"), number("sum")

	r := scores.New(t, p, scores.At{Batch: b, Head: h, Row: i, BQ: 1})
	r.Outputs()
	r.Begin(before, sum) // with the sink, which is of no part
	t.Store(top, tile.Max(before, tile.ReduceMax(tops, 0)))
	weight := tile.Exp2(tile.Sub(tops, top))
	t.Store(sum, tile.Add(tile.Mul(sum, tile.Exp2(tile.Sub(before, top))), tile.ReduceSum(tile.Mul(weight, sums), 0)))
	t.Store(r.O, r.Divided(tile.ReduceSum(tile.Mul(weight, values), 0), sum))
	r.End(top, sum)
	return t.Programs()
}
