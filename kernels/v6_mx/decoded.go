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
	if p.A == tile.Float32 {
		wide = p.A
	}
	x, y := tile.Value(tile.Cast(a, wide)), tile.Value(tile.Cast(b, wide))
	if q.sa != nil { // of all groups of a row those of this block
		is := members(1, tile.Times(k, s.K), q.size, q.sa.Shape()[1], s.K)
		x = tile.Mul(x, tile.Cast(tile.Dot(tile.Cast(q.sa, wide), tile.Cast(is, wide)), wide))
	}
	sb := tile.Cast(q.sb, wide)
	if q.sb.Partial(0) { // the last block may have whole groups past the end
		sb = tile.Select(tile.InBounds(q.sb, 0), sb, tile.Number(0))
	}
	if q.count > 1 {
		is := members(0, tile.Const(0), q.size, s.K, q.count)
		sb = tile.Cast(tile.Dot(tile.Cast(is, wide), sb), wide)
	}
	y = tile.Mul(y, sb)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, y, tile.AtPrecision(p.Precision)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(q.Scaled(acc), p.Out)) })
	return t.Programs()
}

// members has 1 where an element of k, counted from some on along a dimension, is one of a group
// of size, along the other, and else 0: its product with scales has them for each element.
func members(dim int, from tile.IndexExpr, size int, shape ...int) *tile.Expr {
	at := tile.Add(tile.Iota(dim, shape...), tile.IndexValue(from))
	after := tile.Sub(at, tile.Mul(tile.Iota(1-dim, shape...), tile.Number(float64(size))))
	return tile.And(tile.Compare(after, tile.GE, tile.Number(0)), tile.Compare(after, tile.LT, tile.Number(float64(size))))
}
