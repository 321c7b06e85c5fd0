package tiletest

import "matladder/tile"

// int4Weights is a product with weights in int4, of which some rows share a scale
// for each column. A block has whole groups of them, in a loop.
type int4Weights struct{ m, k, n, bm, bk, bn, scaled int }

func (int4Weights) name() string      { return "int4_weights" }
func (int4Weights) rounding() float64 { return 2 * tile.BFloat16.Epsilon() }

func (c int4Weights) programs() ([]*tile.Program, error) {
	t := tile.New("int4_weights")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	groups := c.bk / c.scaled
	x := t.In("x", tile.BFloat16, tile.Array(c.m, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.Int4, tile.Array(c.k, c.n), tile.Block(c.bk, c.bn).At(k, j))
	scales := t.In("scales", tile.Float32, tile.Array(tile.Ceil(c.k, c.scaled), 1, c.n), tile.Block(groups, tile.Squeezed, c.bn).At(k, tile.Const(0), j))
	o := t.Out("o", tile.BFloat16, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Loop("s", groups, func(s *tile.Axis) {
		from := tile.Times(s, c.scaled)
		part := tile.Dot(tile.Slice(x, 1, from, c.scaled), tile.Cast(tile.Slice(w, 0, from, c.scaled), tile.BFloat16))
		exists := tile.Slice(tile.InBounds(scales, 0), 0, s, 1)
		t.Accumulate(acc, tile.Mul(part, tile.Select(exists, tile.Slice(scales, 0, s, 1), tile.Number(0))))
	})
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, tile.BFloat16)) })
	return t.Programs()
}

// batched is a product for each element of a batch, with an activation.
type batched struct {
	batch, m, k, n, bm, bk, bn int
	transA, transB             bool
	activate                   func(tile.Value) *tile.Expr
}

func (batched) name() string      { return "batched" }
func (batched) rounding() float64 { return 2 * tile.BFloat16.Epsilon() }

func (c batched) programs() ([]*tile.Program, error) {
	t := tile.New("batched")
	e := t.Axis("e", c.batch, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	operand := func(name string, transposed bool, rows, columns, blockRows, blockColumns int, row, column tile.IndexExpr) *tile.Ref {
		if transposed {
			rows, columns, blockRows, blockColumns, row, column = columns, rows, blockColumns, blockRows, column, row
		}
		return t.In(name, tile.Float32, tile.Array(c.batch, rows, columns), tile.Block(tile.Squeezed, blockRows, blockColumns).At(e, row, column))
	}
	var opts []tile.DotOption
	if c.transA {
		opts = append(opts, tile.TransA)
	}
	if c.transB {
		opts = append(opts, tile.TransB)
	}
	a, b := operand("a", c.transA, c.m, c.k, c.bm, c.bk, i, k), operand("b", c.transB, c.k, c.n, c.bk, c.bn, k, j)
	o := t.Out("o", tile.BFloat16, tile.Array(c.batch, c.m, c.n), tile.Block(tile.Squeezed, c.bm, c.bn).At(e, i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b, opts...))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(c.activate(acc), tile.BFloat16)) })
	return t.Programs()
}

// grouped multiplies each block of rows by the weights that a table names.
type grouped struct{ experts, rows, k, n, bm, bk, bn int }

func (grouped) name() string      { return "grouped" }
func (grouped) rounding() float64 { return 64 * tile.Float32.Epsilon() }

func (c grouped) programs() ([]*tile.Program, error) {
	t := tile.New("grouped")
	i := t.Axis("i", tile.Ceil(c.rows, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	expert := t.Table("expert", tile.Ceil(c.rows, c.bm))
	x := t.In("x", tile.BFloat16, tile.Array(c.rows, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.BFloat16, tile.Array(c.experts, c.k, c.n), tile.Block(tile.Squeezed, c.bk, c.bn).At(expert.At(i), k, j))
	o := t.Out("o", tile.Float32, tile.Array(c.rows, c.n), tile.Block(c.bm, c.bn).At(i, j))
	t.When(k.First(), func() { t.Fill(o, 0) })
	t.When(tile.Test(expert.At(i), tile.GE, tile.Const(0)), func() { t.Accumulate(o, tile.Dot(x, w)) })
	return t.Programs()
}

// dynamicQuant quantizes rows in one program and multiplies integers in another.
type dynamicQuant struct{ m, k, n, bm, bk, bn int }

func (dynamicQuant) name() string { return "dynamic_quant" }

// One step of the quantization may go the other way.
func (dynamicQuant) rounding() float64 { return 1e-3 }

func (c dynamicQuant) programs() ([]*tile.Program, error) {
	t, zero := tile.New("quantize_rows"), tile.Const(0)
	r := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	rows := tile.Block(c.bm, tile.Ceil(c.k, c.bk)*c.bk).At(r, zero)
	x := t.In("x", tile.Float32, tile.Array(c.m, c.k), rows)
	q := t.Out("q", tile.Int8, tile.Array(c.m, c.k), rows)
	scale := t.Out("row_scale", tile.Float32, tile.Array(c.m, 1), tile.Block(c.bm, 1).At(r, zero))
	size := tile.Select(tile.InBounds(x, 1), tile.Abs(x), tile.Number(0))
	t.Store(scale, tile.Div(tile.RowMax(size), tile.Number(127)))
	t.Store(q, tile.Cast(tile.RoundEven(tile.Div(x, scale)), tile.Int8))
	first, err := t.Programs()
	if err != nil {
		return nil, err
	}

	t = tile.New("int8_matmul")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	q = t.In("q", tile.Int8, tile.Array(c.m, c.k), tile.Block(c.bm, c.bk).At(i, k))
	w := t.In("w", tile.Int8, tile.Array(c.k, c.n), tile.Block(c.bk, c.bn).At(k, j))
	rowScale := t.In("row_scale", tile.Float32, tile.Array(c.m, 1), tile.Block(c.bm, 1).At(i, zero))
	columnScale := t.In("column_scale", tile.Float32, tile.Array(1, c.n), tile.Block(1, c.bn).At(zero, j))
	o := t.Out("o", tile.Float32, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(i, j))
	acc := t.Scratch("acc", tile.Int32, c.bm, c.bn)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(q, w))
	t.When(k.Last(), func() {
		t.Store(o, tile.Mul(tile.Mul(tile.Cast(acc, tile.Float32), rowScale), columnScale))
	})
	second, err := t.Programs()
	return append(first, second...), err
}

// float8 multiplies the two float8 types and rounds the result to a third.
type float8 struct{ m, k, n, bm, bk, bn int }

func (float8) name() string      { return "float8" }
func (float8) rounding() float64 { return 2 * tile.Float8E5M2.Epsilon() }

func (c float8) programs() ([]*tile.Program, error) {
	t := tile.New("float8")
	i := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)
	a := t.In("a", tile.Float8E4M3FN, tile.Array(c.m, c.k), tile.Block(c.bm, c.bk).At(i, k))
	b := t.In("b", tile.Float8E5M2, tile.Array(c.k, c.n), tile.Block(c.bk, c.bn).At(k, j))
	o := t.Out("o", tile.Float8E5M2, tile.Array(c.m, c.n), tile.Block(c.bm, c.bn).At(i, j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)
	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, tile.Float8E5M2)) })
	return t.Programs()
}

// bytes computes on narrow integers: they wrap, and saturate when cast; bools are
// sliced and put together, indices below 0 divided.
type bytes struct{ m, n, bm, bn int }

func (bytes) name() string      { return "bytes" }
func (bytes) rounding() float64 { return 0 }

func (c bytes) programs() ([]*tile.Program, error) {
	t := tile.New("bytes")
	i, j := t.Axis("i", tile.Ceil(c.m, c.bm), tile.Parallel), t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	block := tile.Block(c.bm, c.bn).At(i, j)
	array := tile.Array(c.m, c.n)
	x, u := t.In("x", tile.Int8, array, block), t.In("u", tile.Uint8, array, block)
	wrapped, clipped := t.Out("wrapped", tile.Uint8, array, block), t.Out("clipped", tile.Int8, array, block)
	packed, below := t.Out("packed", tile.Int4, array, block), t.Out("below", tile.Int32, array, block)
	down := tile.FloorDiv(tile.Plus(tile.Times(i, 3), tile.Const(-5)), 2)
	t.Store(below, tile.IndexValue(tile.Plus(down, tile.Mod(tile.Plus(tile.Times(j, -2), tile.Const(-1)), 3))))
	t.Store(wrapped, tile.Mul(u, tile.Add(u, tile.Number(3))))
	sum := tile.Add(tile.Mul(tile.Cast(x, tile.Int32), tile.Number(2)), tile.Cast(u, tile.Int32))
	t.Store(clipped, tile.Cast(tile.Mul(tile.Cast(sum, tile.Float32), tile.Number(0.5)), tile.Int8)) // halves are ties
	half := c.bn / 2
	early := tile.Compare(tile.Iota(1, c.bm, c.bn), tile.LT, tile.Number(3))
	swapped := tile.Concat(1, tile.Slice(early, 1, tile.Const(half), c.bn-half), tile.Slice(early, 1, tile.Const(0), half))
	t.Store(packed, tile.Select(tile.Invert(swapped), tile.Cast(x, tile.Int4), tile.Neg(tile.Cast(tile.Cast(early, tile.Int32), tile.Int4))))
	return t.Programs()
}
