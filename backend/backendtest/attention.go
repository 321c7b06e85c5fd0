package backendtest

import (
	"matladder/kernels"
	"matladder/kernels/experts"
	"matladder/kernels/experts/gate"
	"matladder/problem"
	"matladder/tile"
)

// language are programs with what attention and its neighbours need of the language
// beyond products.
var language = []program{
	{"flash attention", flashAttention, false},
	{"exp2 and log", exp2AndLog, false},
	{"reductions of columns", columnReductions, true},
	{"rows stored", rowsStored, true},
	{"rows stored by table", rowsByGroup, true},
	{"bound of the grid", bounded, true},
	{"blocks of an output by table", outputByTable, true},
	{"clamped index", clamped, true},
	{"blocks that overlap", overlapping, true},
	{"keys in pages", inPages, false},
	{"a chunk of rows over pages", chunkOverPages, false},
	{"q and k turned", turned, false},
	{"gate", func() ([]*tile.Program, error) { return gate.Build(toExperts, 8) }, false},
	{"rows to experts", func() ([]*tile.Program, error) { return experts.All[1].Permute(toExperts, tile.Blocks{}) }, true},
	{"rows to experts by a product", func() ([]*tile.Program, error) {
		return experts.All[0].Permute(toExperts, tile.Blocks{M: 8, K: 8, N: 8})
	}, true},
	{"rows from experts", func() ([]*tile.Program, error) { return experts.All[1].Combine(toExperts, tile.Blocks{}) }, true},
	{"rows from experts by a product", func() ([]*tile.Program, error) {
		return experts.All[0].Combine(toExperts, tile.Blocks{M: 8, K: 8, N: 8})
	}, true},
}

// inPages decodes from pages that a table names, of which each example has as many as it has
// keys.
func inPages() ([]*tile.Program, error) {
	p := problem.Attention{Batch: 3, Heads: 4, KVHeads: 2, Rows: 1, Keys: 64, Dim: 16, ValueDim: 16, Dtype: tile.Float32,
		Scale: 1. / 64, Lengths: true, PageSize: 16, Pages: 9}
	split, _ := kernels.Rung(problem.AttentionFamily, 5)
	return split.Build(p, "", tile.Blocks{M: 1, K: 16})
}

// chunkOverPages has new rows of each example over pages of its own, of which the last ones
// are theirs.
func chunkOverPages() ([]*tile.Program, error) {
	p := problem.Attention{Batch: 2, Heads: 4, KVHeads: 2, Rows: 21, Keys: 64, Dim: 16, ValueDim: 16, Dtype: tile.Float32,
		Scale: 1. / 64, Causal: true, AtEnd: true, PageSize: 16, Pages: 9}
	skip, _ := kernels.Rung(problem.AttentionFamily, 4)
	return skip.Build(p, "", tile.Blocks{M: 8, K: 16})
}

// turned turns blocks of q and k in scratch, which both sides of the product of scores are.
func turned() ([]*tile.Program, error) {
	p := problem.Attention{Batch: 1, Heads: 4, KVHeads: 2, Rows: 21, Keys: 29, Dim: 16, ValueDim: 16, Dtype: tile.Float32,
		Scale: 1. / 2048, Causal: true, Rope: problem.TurnedBoth, Rotation: problem.Rotation{Rotary: 12}}
	skip, _ := kernels.Rung(problem.AttentionFamily, 4)
	return skip.Build(p, "", tile.Blocks{M: 8, K: 8})
}

// toExperts is the problem of the programs that go to experts and back.
var toExperts = problem.Experts{Tokens: 11, Dim: 20, Experts: 6, Choices: 2, Capacity: 3, Order: problem.SoftmaxFirst, Dtype: tile.Float32}

// flashAttention is one pass over blocks of keys and values with a running maximum;
// blocks to the right of the diagonal are skipped, and none is brought in for them.
func flashAttention() ([]*tile.Program, error) {
	const heads, kvHeads, rows, keys, dim, bq, bk = 4, 2, 21, 29, 8, 8, 8
	t := tile.New("flash_attention")
	h, i := t.Axis("h", heads, tile.Parallel), t.Axis("i", tile.Ceil(rows, bq), tile.Parallel)
	j := t.Axis("j", tile.Ceil(keys, bk), tile.Arbitrary)
	zero := tile.Const(0)
	last := tile.FloorDiv(tile.Plus(tile.Times(i, bq), tile.Const(bq-1)), bk)
	kv := tile.Block(tile.Squeezed, bk, dim).At(tile.FloorDiv(h, heads/kvHeads), tile.AtMost(j, last), zero)
	q := t.In("q", tile.Float32, tile.Array(heads, rows, dim), tile.Block(tile.Squeezed, bq, dim).At(h, i, zero))
	k := t.In("k", tile.Float32, tile.Array(kvHeads, keys, dim), kv)
	v := t.In("v", tile.Float32, tile.Array(kvHeads, keys, dim), kv)
	o := t.Out("o", tile.Float32, tile.Array(heads, rows, dim), tile.Block(tile.Squeezed, bq, dim).At(h, i, zero))
	s, p := t.Scratch("s", tile.Float32, bq, bk), t.Scratch("p", tile.Float32, bq, bk)
	acc := t.Scratch("acc", tile.Float32, bq, dim)
	top, next, sum := t.Scratch("top", tile.Float32, bq, 1), t.Scratch("next", tile.Float32, bq, 1), t.Scratch("sum", tile.Float32, bq, 1)
	t.When(j.First(), func() {
		t.Fill(acc, 0)
		t.Fill(top, -1e30)
		t.Fill(sum, 0)
	})
	t.When(tile.Test(j, tile.LE, last), func() {
		row := tile.Add(tile.Iota(0, bq, bk), tile.IndexValue(tile.Times(i, bq)))
		column := tile.Add(tile.Iota(1, bq, bk), tile.IndexValue(tile.Times(j, bk)))
		visible := tile.And(tile.InBoundsRow(k, 0), tile.Compare(column, tile.LE, row))
		t.Store(s, tile.Select(visible, tile.Mul(tile.Dot(q, k, tile.TransB), tile.Number(0.125)), tile.Number(-1e30)))
		t.Store(next, tile.Max(top, tile.RowMax(s)))
		t.Store(p, tile.Exp2(tile.Sub(s, next)))
		t.Store(sum, tile.Add(tile.Mul(sum, tile.Exp2(tile.Sub(top, next))), tile.RowSum(p)))
		t.Store(acc, tile.Add(tile.Mul(acc, tile.Exp2(tile.Sub(top, next))), tile.Dot(p, v)))
		t.Store(top, next)
	})
	t.When(j.Last(), func() { t.Store(o, tile.Div(acc, sum)) })
	return t.Programs()
}

// rows are blocks of rows of x, in and out.
func rows(t *tile.Builder, in, out tile.Dtype) (i *tile.Axis, x, o *tile.Ref) {
	const m, n = 19, 21
	i = t.Axis("i", tile.Ceil(m, 8), tile.Parallel)
	block := tile.Block(8, n).At(i, tile.Const(0))
	return i, t.In("x", in, tile.Array(m, n), block), t.Out("o", out, tile.Array(m, n), block)
}

func exp2AndLog() ([]*tile.Program, error) {
	t := tile.New("exp2_and_log")
	_, x, o := rows(t, tile.BFloat16, tile.Float32)
	wide := tile.Cast(x, tile.Float32)
	t.Store(o, tile.Add(tile.Exp2(tile.Mul(wide, tile.Number(0.75))), tile.Log(tile.Add(tile.Abs(wide), tile.Number(1)))))
	return t.Programs()
}

// columnReductions takes the largest of each column of a block, and its sum, less
// what is outside.
func columnReductions() ([]*tile.Program, error) {
	t := tile.New("column_reductions")
	_, x, o := rows(t, tile.Float32, tile.Float32)
	inside := tile.InBounds(x, 0)
	top := tile.ReduceMax(tile.Select(inside, x, tile.Number(-100)), 0)
	t.Store(o, tile.Add(tile.Mul(top, tile.Number(8)), tile.ReduceSum(tile.Select(inside, x, tile.Number(0)), 0)))
	return t.Programs()
}

// rowsStored stores some rows over others, by constants and by the program's id.
func rowsStored() ([]*tile.Program, error) {
	t := tile.New("rows_stored")
	i, x, o := rows(t, tile.Int32, tile.Int32)
	t.Store(o, x)
	t.StoreRows(o, tile.Const(-3), tile.Plus(i, tile.Const(1)), tile.Neg(x))
	t.StoreRows(o, tile.Const(6), tile.Const(7), tile.Number(100))
	t.StoreRows(o, tile.Const(5), tile.Const(5), tile.Number(200)) // none
	return t.Programs()
}

// rowsByGroup visits blocks of rows, one of them twice, and stores the rows that a table says.
func rowsByGroup() ([]*tile.Program, error) {
	const m, k, n, groups = 24, 8, 16, 2
	t := tile.New("rows_by_group")
	from := t.Table("from", groups+1)
	g := t.Axis("g", groups, tile.Arbitrary)
	zero := tile.Const(0)
	x := t.In("x", tile.Float32, tile.Array(m, k), tile.Block(m, k).At(zero, zero))
	w := t.In("w", tile.Float32, tile.Array(groups, k, n), tile.Block(tile.Squeezed, k, n).At(g, zero, zero))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(m, n).At(zero, zero))
	t.When(g.First(), func() { t.Fill(o, -1) })
	t.StoreRows(o, from.At(g), from.At(tile.Plus(g, tile.Const(1))), tile.Dot(x, w))
	return t.Programs()
}

// bounded sums as many blocks along k as a table says.
func bounded() ([]*tile.Program, error) {
	const m, k, n = 19, 40, 13
	t := tile.New("bounded")
	steps := t.Table("steps", 2)
	i, j := t.Axis("i", tile.Ceil(m, 8), tile.Parallel), t.Axis("j", tile.Ceil(n, 8), tile.Parallel)
	kk := t.BoundedAxis("k", k/8, tile.Arbitrary, steps.At(tile.Const(1)))
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(8, 8).At(i, kk))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	o := t.Out("o", tile.BFloat16, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	acc := t.Scratch("acc", tile.Float32, 8, 8)
	t.When(kk.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(kk.Last(), func() { t.Store(o, tile.Cast(acc, tile.BFloat16)) })
	return t.Programs()
}

// outputByTable writes blocks of rows where a table says.
func outputByTable() ([]*tile.Program, error) {
	const m, k, n = 30, 21, 13
	t := tile.New("output_by_table")
	order := t.Table("order", tile.Ceil(m, 8))
	h, i := t.Axis("h", 3, tile.Parallel), t.Axis("i", tile.Ceil(m, 8), tile.Arbitrary)
	zero := tile.Const(0)
	a := t.In("a", tile.Float32, tile.Array(3, m, k), tile.Block(tile.Squeezed, 8, k).At(h, order.At(i), zero))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(k, n).At(zero, zero))
	o := t.Out("o", tile.Float32, tile.Array(3, m, n), tile.Block(tile.Squeezed, 8, n).At(h, order.At(i), zero))
	t.Store(o, tile.Dot(a, b))
	return t.Programs()
}

// clamped takes blocks of a whose number stays within limits.
func clamped() ([]*tile.Program, error) {
	const m, k, n = 30, 8, 13
	t := tile.New("clamped")
	i := t.Axis("i", tile.Ceil(m, 8), tile.Parallel)
	zero := tile.Const(0)
	at := tile.AtLeast(tile.AtMost(tile.Plus(tile.Times(i, 2), tile.Const(-2)), tile.Plus(i, tile.Const(1))), zero)
	a := t.In("a", tile.Float32, tile.Array(8*5, k), tile.Block(8, k).At(at, zero))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(k, n).At(zero, zero))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, n).At(i, zero))
	t.Store(o, tile.Dot(a, b))
	return t.Programs()
}

// overlapping cuts rows where a table says, and sums over blocks of the contraction that
// share elements.
func overlapping() ([]*tile.Program, error) {
	const m, k, n, every = 30, 21, 13, 5
	t := tile.New("overlapping")
	first := t.Table("first", 6)
	j, i := t.Axis("j", tile.Ceil(n, 8), tile.Parallel), t.Axis("i", 5, tile.Arbitrary)
	kk := t.Axis("k", tile.Ceil(k, every), tile.Arbitrary)
	row := first.At(i)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(8, 8).At(row, kk).Every(1, every))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(8, 8).At(kk, j).Every(every, 8))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, 8).At(row, j).Every(1, 8))
	acc := t.Scratch("acc", tile.Float32, 8, 8)
	t.When(kk.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	next := first.At(tile.Plus(i, tile.Const(1)))
	t.When(kk.Last(), func() { t.StoreRows(o, tile.Const(0), tile.Plus(next, tile.Times(row, -1)), acc) })
	return t.Programs()
}

// tables are the elements of the tables of those programs whose own are not of any
// small integers.
var tables = map[string]map[string][]float64{
	"rows stored by table":         {"from": {3, 11, 24}},
	"bound of the grid":            {"steps": {0, 3}},
	"blocks of an output by table": {"order": {2, 0, 3, 1}},
	"blocks that overlap":          {"first": {0, 5, 12, 20, 27, 30}},
	"keys in pages":                {"lengths": {1, 64, 1, 21, 1, 0}, "pages": {3, 8, 0, 5, 1, 7, 0, 0, 2, 2, 2, 2}},
	"a chunk of rows over pages":   {"pages": {4, 1, 7, 0, 8, 2, 5, 3}},
	"rows to experts":              {"tokens": {3, 4, -1, 0, 10, 2, 2, -1, -1, 5, 6, 7, 10, 1, -1, 0, 9, 8}},
	"rows from experts":            {"rows_of": {3, 15, 13, -1, 5, 6, 0, -1, 1, -1, 9, 17, 10, 2, 11, 7, 17, 16, 16, 8, 4, 12}},
}
