// Package rows is the second rung of the way to experts: a table says which row a program
// sees, so that rows are moved and nothing is multiplied.
package rows

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel takes rows one by one.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 2 }

// Name is the folder's.
func (Kernel) Name() string { return "v2_rows" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Experts) error { return p.Validate() }

// Permute writes the way there: row after row of the token that it is of.
func (Kernel) Permute(p problem.Experts, _ tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("permute")
	tokens := t.Table("tokens", p.Rows())
	r := t.Axis("r", p.Rows(), tile.Parallel)
	token, zero := tokens.At(r), tile.Const(0)
	row := tile.Block(tile.Squeezed, 1, p.Dim)
	x := t.In("x", p.Dtype, tile.Array(p.Tokens, 1, p.Dim), row.At(tile.AtLeast(token, zero), zero, zero))
	o := t.Out("rows", p.Dtype, tile.Array(p.Rows(), 1, p.Dim), row.At(r, zero, zero))
	t.When(tile.Test(token, tile.GE, zero), func() { t.Store(o, x) })
	t.When(tile.Test(token, tile.LT, zero), func() { t.Fill(o, 0) })
	return t.Programs()
}

// Combine writes the way back: of each token its choices, one after another.
func (Kernel) Combine(p problem.Experts, _ tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("combine")
	rows := t.Table("rows_of", p.Tokens*p.Choices)
	i := t.Axis("i", p.Tokens, tile.Parallel)
	c := t.Axis("c", p.Choices, tile.Arbitrary)
	choice := tile.Plus(tile.Times(i, p.Choices), c)
	row, zero := rows.At(choice), tile.Const(0)
	y := t.In("y", p.Dtype, tile.Array(p.Rows(), 1, p.Dim), tile.Block(tile.Squeezed, 1, p.Dim).At(tile.AtLeast(row, zero), zero, zero))
	w := t.In("weights", tile.Float32, tile.Array(p.Tokens*p.Choices, 1, 1), tile.Block(tile.Squeezed, 1, 1).At(choice, zero, zero))
	o := t.Out("o", p.Dtype, tile.Array(p.Tokens, 1, p.Dim), tile.Block(tile.Squeezed, 1, p.Dim).At(i, zero, zero))
	acc := t.Scratch("acc", tile.Float32, 1, p.Dim)
	t.When(c.First(), func() { t.Fill(acc, 0) })
	t.When(tile.Test(row, tile.GE, zero), func() { t.Accumulate(acc, tile.Mul(tile.Cast(y, tile.Float32), w)) })
	t.When(c.Last(), func() { t.Store(o, tile.Cast(acc, p.Dtype)) })
	return t.Programs()
}
