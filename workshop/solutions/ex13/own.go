// Package ex13 is the solution of exercise 13.
package ex13

import (
	"math"

	"matladder/tile"
)

// Build keeps the best match of each query so far, as lesson 8 keeps the largest score.
func Build(m, k, n int, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("ex13")
	i := t.Axis("i", tile.Ceil(m, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(n, s.N), tile.Arbitrary)
	zero := tile.Const(0)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(s.M, k).At(i, zero))
	b := t.In("b", tile.Float32, tile.Array(n, k), tile.Block(s.N, k).At(j, zero))
	o := t.Out("o", tile.Float32, tile.Array(m, 1), tile.Block(s.M, 1).At(i, zero))
	matches := t.Scratch("matches", tile.Float32, s.M, s.N)
	best := t.Scratch("best", tile.Float32, s.M, 1)

	t.When(j.First(), func() { t.Fill(best, math.Inf(-1)) })
	t.Store(matches, tile.Dot(a, b, tile.TransB))
	t.Store(best, tile.Max(best, tile.RowMax(matches)))
	t.When(j.Last(), func() { t.Store(o, best) })
	return t.Programs()
}
