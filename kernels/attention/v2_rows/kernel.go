// Package rows is the second rung of attention: the scores of some rows with all keys stay
// in fast memory.
package rows

import (
	"matladder/kernels/attention/scores"
	"matladder/problem"
	"matladder/tile"
)

// Kernel has whole rows of scores in scratch.
var Kernel = problem.Rung[problem.Attention]{
	Number: 2, Name: "v2_rows",
	Supports: scores.Beside, Blocks: blocks, Build: build,
}

// blocks has one shape: as many rows as a tenth of fast memory holds scores of.
func blocks(p problem.Attention, m problem.Machine) []tile.Blocks {
	rows := 128
	for m.FastBytes > 0 && rows > 8 && int64(rows)*int64(p.Keys)*4 > m.FastBytes/10 {
		rows /= 2
	}
	return []tile.Blocks{problem.Clip(p, tile.Blocks{M: rows, K: p.Keys})}
}

// build writes the kernel as a tile program.
func build(p problem.Attention, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v2_rows")
	b := t.Axis("b", p.Batch, tile.Parallel)
	h := t.Axis("h", p.Heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(p.Rows, s.M), tile.Parallel)

	r := scores.All(t, p, scores.At{Batch: b, Head: h, Row: i, Key: tile.Const(0), BQ: s.M, BK: p.Keys})
	x := t.Scratch("s", tile.Float32, s.M, p.Keys)
	first := t.Scratch("first", tile.Float32, s.M, 1)
	top := t.Scratch("top", tile.Float32, s.M, 1)
	sum := t.Scratch("sum", tile.Float32, s.M, 1)

	r.Begin(first, sum)
	r.Turn()
	t.Store(x, r.Seen())
	t.Store(top, tile.Max(first, tile.RowMax(x)))
	t.Store(x, r.Power(tile.Sub(x, top)))
	t.Store(sum, tile.Add(tile.Mul(sum, r.Power(tile.Sub(first, top))), tile.RowSum(x)))
	t.Store(r.O, r.Divided(r.Times(tile.Cast(x, p.Dtype)), sum))
	r.End(top, sum)
	return scores.Programs(p, t)
}
