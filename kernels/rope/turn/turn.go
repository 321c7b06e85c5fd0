// Package turn has what the rungs of rope share, and attention where it turns q and k: how a
// column finds the other one of its pair, and the columns that are not turned.
package turn

import (
	"matladder/problem"
	"matladder/tile"
)

// Turned are the columns of x that are turned.
func Turned(p problem.Rope, x *tile.Expr) *tile.Expr {
	return tile.Slice(x, 1, tile.Const(0), p.Turned())
}

// WithRest is o, of the columns that are turned, with those of x that are not behind them.
func WithRest(p problem.Rope, x, o *tile.Expr) *tile.Expr {
	if n := p.Turned(); n < p.Dim {
		return tile.Concat(1, o, tile.Slice(x, 1, tile.Const(n), p.Dim-n))
	}
	return o
}

// Others are, for each column of x, what is multiplied by the sine: of the first of a pair
// the second one negated, of the second the first.
func Others(p problem.Rope, x *tile.Expr) *tile.Expr {
	n, rows := p.Turned(), x.Shape[0]
	if !p.Interleaved {
		return tile.Concat(1, tile.Neg(tile.Slice(x, 1, tile.Const(n/2), n/2)), tile.Slice(x, 1, tile.Const(0), n/2))
	}
	next := tile.Concat(1, tile.Slice(x, 1, tile.Const(1), n-1), tile.Slice(x, 1, tile.Const(0), 1))
	last := tile.Concat(1, tile.Slice(x, 1, tile.Const(n-1), 1), tile.Slice(x, 1, tile.Const(0), n-1))
	half := tile.Mul(tile.Cast(tile.Iota(1, rows, n), tile.Float32), tile.Number(0.5))
	return tile.Select(tile.Compare(half, tile.EQ, tile.RoundEven(half)), tile.Neg(next), last)
}

// Columns is how many columns the tables of By have: one for each pair; columns of an
// interleaved pair lie side by side, so that these have one for each that is turned.
func Columns(p problem.Rope) int {
	if p.Interleaved {
		return p.Turned()
	}
	return p.Turned() / 2
}

// By is x turned by blocks of the tables, both columns of a pair at once, with the columns
// behind that are not turned.
func By(p problem.Rope, x *tile.Expr, cos, sin tile.Value) *tile.Expr {
	turned := Turned(p, x)
	if p.Interleaved {
		return WithRest(p, x, tile.Add(tile.Mul(turned, cos), tile.Mul(Others(p, turned), sin)))
	}
	n := p.Turned() / 2
	first, second := tile.Slice(turned, 1, tile.Const(0), n), tile.Slice(turned, 1, tile.Const(n), n)
	return WithRest(p, x, tile.Concat(1,
		tile.Sub(tile.Mul(first, cos), tile.Mul(second, sin)),
		tile.Add(tile.Mul(second, cos), tile.Mul(first, sin))))
}
