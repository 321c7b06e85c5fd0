package mx

import (
	"matladder/kernels/scaled"
	"matladder/tile"
)

// decoded is the variant that multiplies codes by their scales first, so that one product has
// all of a block's depth: a group alone fills a quarter of a matrix unit of 128, or less.
const decoded = "decoded"

// decodedProduct writes it. A narrow scale by a code is a bfloat16 exactly.
func decodedProduct(t *scaled.Program) ([]*tile.Program, error) {
	p, s := t.P, t.S
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)

	a := t.In(t.A, t.TypeOfA, t.Array(p.M, p.K), t.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, t.Array(p.K, p.N), t.Block(s.K, s.N).At(k, j))
	q := groupsOf(t, i, j, k) // sa, sb: the scales of the groups
	o := t.Out("o", p.Out, t.Array(p.M, p.N), t.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", tile.Float32, s.M, s.N)

	wide := tile.BFloat16
	if d := t.TypeOfA; d.Bits() > 8 && d != wide {
		wide = tile.Float32
	}
	x := tile.Cast(a, tile.Float32)
	if q.sa != nil { // of all groups of a row those of this block, each for the columns of its group
		all := []int{q.sa.Shape()[1], s.K}
		from := tile.Sub(tile.Add(tile.Iota(1, all...), tile.IndexValue(tile.Times(k, s.K))), tile.Mul(tile.Iota(0, all...), tile.Number(float64(q.size))))
		in := tile.And(tile.Compare(from, tile.GE, tile.Number(0)), tile.Compare(from, tile.LT, tile.Number(float64(q.size))))
		x = tile.Mul(x, tile.Dot(tile.Cast(q.sa, wide), tile.Cast(in, wide)))
	}
	rows := make([]tile.Value, q.count) // each of sb is that of as many rows of b
	for g := range rows {
		rows[g] = tile.Broadcast(q.row(q.sb, tile.Const(g)), s.K/q.count, s.N)
	}
	y := tile.Mul(tile.Cast(b, tile.Float32), tile.Concat(0, rows...))

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(tile.Cast(x, wide), tile.Cast(y, wide), tile.AtPrecision(p.Precision)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(q.Scaled(acc), p.Out)) })
	return t.Programs()
}
