package tile_test

import (
	"math"

	"matladder/tile"
)

// The programs here are what the language is meant for beyond a matmul; they are
// small, ragged and verified. What they compute is tested in package interp.
var programs = []struct {
	name  string
	build func() ([]*tile.Program, error)
}{
	{"flash_attention", flashAttention},
	{"grouped_matmul", groupedMatmul},
	{"batched_swizzled", batchedSwizzled},
	{"int4_subchannel", int4Subchannel},
	{"layer_norm", layerNorm},
	{"blockwise_sum", blockwiseSum},
	{"rows_from", rowsFrom},
}

// flashAttention keeps a running maximum and sum of each row over blocks of k
// and v, causally; two query heads share one of k and v.
func flashAttention() ([]*tile.Program, error) {
	const seq, dim, bq, bk = 37, 16, 8, 16
	t := tile.New("flash_attention")
	h := t.Axis("h", 4, tile.Parallel)
	i := t.Axis("i", tile.Ceil(seq, bq), tile.Parallel)
	j := t.Axis("j", tile.Ceil(seq, bk), tile.Arbitrary)

	kv := tile.Block(tile.Squeezed, bk, dim).At(tile.FloorDiv(h, 2), j, zero)
	q := t.In("q", tile.BFloat16, tile.Array(4, seq, dim), tile.Block(tile.Squeezed, bq, dim).At(h, i, zero))
	k := t.In("k", tile.BFloat16, tile.Array(2, seq, dim), kv)
	v := t.In("v", tile.BFloat16, tile.Array(2, seq, dim), kv)
	o := t.Out("o", tile.BFloat16, tile.Array(4, seq, dim), tile.Block(tile.Squeezed, bq, dim).At(h, i, zero))
	acc := t.Scratch("acc", tile.Float32, bq, dim)
	top := t.Scratch("top", tile.Float32, bq, 1)
	sum := t.Scratch("sum", tile.Float32, bq, 1)
	next := t.Scratch("next", tile.Float32, bq, 1)
	p := t.Scratch("p", tile.Float32, bq, bk)

	t.When(j.First(), func() {
		t.Fill(acc, 0)
		t.Fill(sum, 0)
		t.Fill(top, math.Inf(-1))
	})
	t.When(tile.Test(tile.Times(j, bk), tile.LE, tile.Plus(tile.Times(i, bq), tile.Const(bq-1))), func() {
		row := tile.Add(tile.Iota(0, bq, bk), tile.IndexValue(tile.Times(i, bq)))
		col := tile.Add(tile.Iota(1, bq, bk), tile.IndexValue(tile.Times(j, bk)))
		seen := tile.And(tile.InBoundsRow(k, 0), tile.Compare(col, tile.LE, row))
		scores := tile.Select(seen, tile.Mul(tile.Dot(q, k, tile.TransB), tile.Number(0.25)), tile.Number(-1e30))
		t.Store(next, tile.Max(top, tile.RowMax(scores)))
		t.Store(p, tile.Exp(tile.Sub(scores, next)))
		shrink := tile.Exp(tile.Sub(top, next))
		t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.RowSum(p)))
		t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Dot(tile.Cast(p, tile.BFloat16), v)))
		t.Store(top, next)
	})
	t.When(j.Last(), func() { t.Store(o, tile.Cast(tile.Div(acc, sum), tile.BFloat16)) })
	return t.Programs()
}

// rowsFrom multiplies rows that begin where a table says, so that blocks overlap.
func rowsFrom() ([]*tile.Program, error) {
	const m, k, n, bm = 30, 12, 10, 8
	t := tile.New("rows_from")
	first := t.Table("first", 6)
	i := t.Axis("i", 5, tile.Arbitrary)
	row := first.At(i)
	x := t.In("x", tile.Float32, tile.Array(m, k), tile.Block(bm, k).At(row, zero).Every(1, k))
	w := t.In("w", tile.Float32, tile.Array(k, n), tile.Block(k, n).At(zero, zero))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(bm, n).At(row, zero).Every(1, n))
	next := first.At(tile.Plus(i, tile.Const(1)))
	t.StoreRows(o, tile.Const(0), tile.Plus(next, tile.Times(row, -1)), tile.Dot(x, w))
	return t.Programs()
}

// groupedMatmul picks the weights of each block of rows from a table.
func groupedMatmul() ([]*tile.Program, error) {
	const m, k, n, bm, bk, bn = 50, 23, 17, 8, 8, 8
	t := tile.New("grouped_matmul")
	i := t.Axis("i", tile.Ceil(m, bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(n, bn), tile.Parallel)
	kk := t.Axis("k", tile.Ceil(k, bk), tile.Arbitrary)
	expert := t.Table("expert", tile.Ceil(m, bm))
	x := t.In("x", tile.BFloat16, tile.Array(m, k), tile.Block(bm, bk).At(i, kk))
	w := t.In("w", tile.BFloat16, tile.Array(4, k, n), tile.Block(tile.Squeezed, bk, bn).At(expert.At(i), kk, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(bm, bn).At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(x, w))
	return t.Programs()
}

// batchedSwizzled walks the blocks of each product in groups of rows.
func batchedSwizzled() ([]*tile.Program, error) {
	const m, k, n, bm, bk, bn, group = 60, 20, 45, 16, 8, 16, 2
	t := tile.New("batched_swizzled")
	mi, nj := tile.Ceil(m, bm), tile.Ceil(n, bn)
	b := t.Axis("b", 3, tile.Parallel)
	pid := t.Axis("pid", mi*nj, tile.Parallel)
	kk := t.Axis("k", tile.Ceil(k, bk), tile.Arbitrary)
	i := tile.Plus(tile.Times(tile.FloorDiv(pid, group*nj), group), tile.Mod(pid, group))
	j := tile.FloorDiv(tile.Mod(pid, group*nj), group)
	x := t.In("x", tile.Int8, tile.Array(3, m, k), tile.Block(tile.Squeezed, bm, bk).At(b, i, kk))
	w := t.In("w", tile.Int8, tile.Array(3, n, k), tile.Block(tile.Squeezed, bn, bk).At(b, j, kk))
	bias := t.In("bias", tile.Float32, tile.Array(n), tile.Block(bn).At(j))
	o := t.Out("o", tile.BFloat16, tile.Array(3, m, n), tile.Block(tile.Squeezed, bm, bn).At(b, i, j))
	acc := t.Scratch("acc", tile.Int32, bm, bn)
	t.When(kk.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, w, tile.TransB))
	t.When(kk.Last(), func() {
		t.Store(o, tile.Cast(tile.Silu(tile.Add(tile.Cast(acc, tile.Float32), bias)), tile.BFloat16))
	})
	return t.Programs()
}

// int4Subchannel has one scale for each column of every 16 rows of w.
func int4Subchannel() ([]*tile.Program, error) {
	const m, k, n, bm, bk, bn, channel = 5, 80, 9, 4, 32, 8, 16
	t := tile.New("int4_subchannel")
	i := t.Axis("i", tile.Ceil(m, bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(n, bn), tile.Parallel)
	kk := t.Axis("k", tile.Ceil(k, bk), tile.Arbitrary)
	x := t.In("x", tile.BFloat16, tile.Array(m, k), tile.Block(bm, bk).At(i, kk))
	w := t.In("w", tile.Int4, tile.Array(k, n), tile.Block(bk, bn).At(kk, j))
	scales := t.In("scales", tile.Float32, tile.Array(k/channel, 1, n), tile.Block(bk/channel, tile.Squeezed, bn).At(kk, zero, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(bm, bn).At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Loop("s", bk/channel, func(s *tile.Axis) {
		from := tile.Times(s, channel)
		part := tile.Dot(tile.Slice(x, 1, from, channel), tile.Cast(tile.Slice(w, 0, from, channel), tile.BFloat16))
		exists := tile.Slice(tile.InBounds(scales, 0), 0, s, 1)
		t.Accumulate(o, tile.Mul(part, tile.Select(exists, tile.Slice(scales, 0, s, 1), tile.Number(0))))
	})
	return t.Programs()
}

// layerNorm has rows shorter than a block.
func layerNorm() ([]*tile.Program, error) {
	const rows, dim, br, bd = 11, 100, 4, 128
	t := tile.New("layer_norm")
	i := t.Axis("i", tile.Ceil(rows, br), tile.Parallel)
	x := t.In("x", tile.Float32, tile.Array(rows, dim), tile.Block(br, bd).At(i, zero))
	gamma := t.In("gamma", tile.Float32, tile.Array(dim), tile.Block(bd).At(zero))
	o := t.Out("o", tile.Float32, tile.Array(rows, dim), tile.Block(br, bd).At(i, zero))
	mean := func(v tile.Value) *tile.Expr {
		return tile.Mul(tile.RowSum(tile.Select(tile.InBounds(x, 1), v, tile.Number(0))), tile.Number(1.0/dim))
	}
	centred := tile.Sub(x, mean(x))
	variance := mean(tile.Mul(centred, centred))
	t.Store(o, tile.Mul(tile.Mul(centred, tile.Rsqrt(tile.Add(variance, tile.Number(1e-5)))), gamma))
	return t.Programs()
}

// blockwiseSum adds four blocks of k into each of two output blocks: a revisit
// that no axis of its own stands for.
func blockwiseSum() ([]*tile.Program, error) {
	t := tile.New("blockwise_sum")
	k := t.Axis("k", 8, tile.Arbitrary)
	x := t.In("x", tile.Float32, tile.Array(32), tile.Block(4).At(k))
	o := t.Out("o", tile.Float32, tile.Array(8), tile.Block(4).At(tile.FloorDiv(k, 4)))
	t.When(tile.Test(tile.Mod(k, 4), tile.EQ, zero), func() { t.Fill(o, 0) })
	t.Accumulate(o, x)
	return t.Programs()
}
