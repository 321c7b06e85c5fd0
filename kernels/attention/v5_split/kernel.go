// Package split is the fifth rung of attention, for the few rows of a model that decodes:
// the heads that share keys stand in one product, and parts of the keys in programs of their
// own, which a second program merges (merge.go).
package split

import (
	"matladder/kernels/attention/scores"
	flash "matladder/kernels/attention/v3_flash"
	"matladder/problem"
	"matladder/tile"
)

// Kernel takes rows one at a time.
var Kernel = problem.Rung[problem.Attention]{
	Number: 5, Name: "v5_split",
	Supports: problem.Attention.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of few keys to many.
func blocks(p problem.Attention, _ problem.Machine) []tile.Blocks {
	if p.PageSize > 0 {
		return []tile.Blocks{{M: 1, K: p.PageSize}}
	}
	return problem.ClipAll(p, tile.Blocks{M: 1, K: 1024}, tile.Blocks{M: 1, K: 512}, tile.Blocks{M: 1, K: 256}, tile.Blocks{M: 1, K: 2048})
}

// programs is how many there are at least, if the keys are enough: more than cores.
const programs = 64

// build writes the kernel as two tile programs.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	if err := scores.OfOnePage(p, s); err != nil {
		return nil, err
	}
	t, n, zero := tile.New("v5_split"), p.Group(), tile.Const(0)
	b, g, i := t.Axis("b", p.Batch, tile.Parallel), t.Axis("g", p.KVHeads, tile.Parallel), t.Axis("i", p.Rows, tile.Parallel)
	seen := scores.RangeOf(p, i, tile.Blocks{M: 1, K: s.K})
	parts := min(tile.Ceil(programs, p.Batch*p.KVHeads*p.Rows), seen.Most)
	each := tile.Ceil(seen.Most, parts)
	x, j := t.Axis("x", parts, tile.Parallel), t.Axis("j", each, tile.Arbitrary)
	key := tile.Plus(seen.First, tile.Plus(tile.Times(x, each), j))

	r := scores.New(t, p, scores.At{Batch: b, Head: g, Row: i, BQ: n, BK: s.K, Stacked: true})
	last := r.Until(seen.Last)
	r.See(tile.AtLeast(tile.AtMost(key, last), zero))
	r.Products()
	r.Values()
	of := func(name string, cols int) *tile.Ref {
		array, block := partsOf(p, parts, cols)
		return t.Out(name, tile.Float32, array, block.At(b, g, i, x, zero, zero))
	}
	acc, top, sum, step := flash.Over(t, p, r, tile.Blocks{M: n, K: s.K})
	t.When(j.First(), func() {
		t.Fill(acc, 0)
		t.Fill(top, scores.Least)
		t.Fill(sum, 0)
		r.TurnRows()
	})
	t.When(tile.Test(key, tile.LE, last), func() { step((*scores.Refs).Seen) })
	t.When(j.Last(), func() {
		t.Store(of("parts", p.ValueDim), acc)
		t.Store(of("tops", 1), top)
		t.Store(of("sums", 1), sum)
	})
	return scores.Programs(p, t, merge(p, parts))
}
