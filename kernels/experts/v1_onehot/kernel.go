// Package onehot is the first rung of the way to experts: products with matrices of zeros
// and ones, or of weights, that are made where they are needed.
package onehot

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel multiplies every token into every row.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 1 }

// Name is the folder's.
func (Kernel) Name() string { return "v1_onehot" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Experts) error { return p.Validate() }

// Permute writes the way there: blocks of M rows, of tokens K and of columns N.
func (Kernel) Permute(p problem.Experts, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("permute")
	i := t.Axis("i", tile.Ceil(p.Rows(), s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.Dim, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.Tokens, s.K), tile.Arbitrary)
	tokens := t.In("tokens", tile.Int32, tile.Array(p.Rows(), 1), tile.Block(s.M, 1).At(i, tile.Const(0)))
	x := t.In("x", p.Dtype, tile.Array(p.Tokens, p.Dim), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("rows", p.Dtype, tile.Array(p.Rows(), p.Dim), tile.Block(s.M, s.N).At(i, j))
	rows := t.In("rows_of", tile.Int32, tile.Array(p.Tokens, p.Choices), tile.Block(s.K, p.Choices).At(k, tile.Const(0)))
	goes := tile.Compare(tile.RowMax(tile.Cast(rows, tile.Float32)), tile.GE, tile.Number(0))
	acc, hot := t.Scratch("acc", tile.Float32, s.M, s.N), t.Scratch("hot", p.Dtype, s.M, s.K)
	token := tile.Add(tile.Iota(1, s.M, s.K), tile.IndexValue(tile.Times(k, s.K)))

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Store(hot, tile.Cast(tile.Select(tile.Compare(tokens, tile.EQ, token), tile.Number(1), tile.Number(0)), p.Dtype))
	t.Accumulate(acc, tile.Dot(hot, where(goes, x), tile.AtPrecision(tile.Highest)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}

// Combine writes the way back: blocks of M tokens, of rows K and of columns N.
func (Kernel) Combine(p problem.Experts, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("combine")
	i := t.Axis("i", tile.Ceil(p.Tokens, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.Dim, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.Rows(), s.K), tile.Arbitrary)
	chosen := tile.Block(s.M, p.Choices).At(i, tile.Const(0))
	rows := t.In("rows_of", tile.Int32, tile.Array(p.Tokens, p.Choices), chosen)
	w := t.In("weights", tile.Float32, tile.Array(p.Tokens, p.Choices), chosen)
	y := t.In("y", p.Dtype, tile.Array(p.Rows(), p.Dim), tile.Block(s.K, s.N).At(k, j))
	tokens := t.In("tokens", tile.Int32, tile.Array(p.Rows(), 1), tile.Block(s.K, 1).At(k, tile.Const(0)))
	o := t.Out("o", p.Dtype, tile.Array(p.Tokens, p.Dim), tile.Block(s.M, s.N).At(i, j))
	acc, mix := t.Scratch("acc", tile.Float32, s.M, s.N), t.Scratch("mix", p.Dtype, s.M, s.K)
	row := tile.Add(tile.Iota(1, s.M, s.K), tile.IndexValue(tile.Times(k, s.K)))

	t.When(k.First(), func() { t.Fill(acc, 0) })
	part := func(c int) *tile.Expr { // the weight of choice c at its row
		of := func(x tile.Value) *tile.Expr { return tile.Slice(x, 1, tile.Const(c), 1) }
		return tile.Select(tile.Compare(of(rows), tile.EQ, row), of(w), tile.Number(0))
	}
	sum := part(0)
	for c := 1; c < p.Choices; c++ {
		sum = tile.Add(sum, part(c))
	}
	t.Store(mix, tile.Cast(sum, p.Dtype))
	t.Accumulate(acc, tile.Dot(mix, where(tile.Compare(tokens, tile.GE, tile.Number(0)), y), tile.AtPrecision(tile.Highest)))
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}

// where is x in rows of which is holds, and 0 in others: those that no row of the product is of
// may hold anything.
func where(is tile.Value, x *tile.Ref) tile.Value {
	if x.Partial(0) {
		is = tile.And(is, tile.InBounds(x, 0))
	}
	return tile.Select(is, x, tile.Number(0))
}
