// Package rows has what all rungs of norm share: the arrays, as blocks of whole rows, and
// what is done with a row before and after its size is known.
package rows

import (
	"matladder/problem"
	"matladder/tile"
)

// Blocks are the refs of a program that sees some whole rows.
type Blocks struct {
	t           *tile.Builder
	p           problem.Norm
	x, residual *tile.Ref
	rows        tile.BlockSpec
}

// See lets t see bm rows of x, and of the residual if there is one, at i.
func See(t *tile.Builder, p problem.Norm, i tile.IndexExpr, bm int) Blocks {
	all, rows := tile.Array(p.Rows, p.Cols), tile.Block(bm, p.Cols).At(i, tile.Const(0))
	b := Blocks{t: t, p: p, rows: rows, x: t.In("x", p.X, all, rows)}
	if p.Residual {
		b.residual = t.In("residual", p.X, all, rows)
	}
	return b
}

// Row is what the norm is of, in float32.
func (b Blocks) Row() *tile.Expr {
	x := tile.Cast(b.x, tile.Float32)
	if b.residual != nil {
		x = tile.Cast(tile.Cast(tile.Add(x, tile.Cast(b.residual, tile.Float32)), b.p.X), tile.Float32)
	}
	return x
}

// Kept is Row, with the sum of x and the residual stored, and read from there.
func (b Blocks) Kept() *tile.Expr {
	if b.residual == nil {
		return b.Row()
	}
	sum := b.t.Out("sum", b.p.X, tile.Array(b.p.Rows, b.p.Cols), b.rows)
	b.t.Store(sum, tile.Cast(b.Row(), b.p.X))
	return tile.Cast(sum, tile.Float32)
}

// Mean is the mean of each row of x.
func (b Blocks) Mean(x tile.Value) *tile.Expr {
	return tile.Mul(tile.RowSum(x), tile.Number(1/float64(b.p.Cols)))
}

// Inverse is one over the size of rows whose squares have a mean.
func (b Blocks) Inverse(square tile.Value) *tile.Expr {
	return tile.Rsqrt(tile.Add(square, tile.Number(b.p.Eps())))
}

// End stores o, of rows that have been brought to one size.
func (b Blocks) End(x tile.Value) {
	p, row, first := b.p, tile.Array(1, b.p.Cols), tile.Block(1, b.p.Cols).At(tile.Const(0), tile.Const(0))
	w := tile.Cast(b.t.In("w", p.X, row, first), tile.Float32)
	if p.Offset {
		w = tile.Add(w, tile.Number(1))
	}
	o := tile.Mul(x, w)
	if !p.RMS {
		o = tile.Add(o, tile.Cast(b.t.In("b", p.X, row, first), tile.Float32))
	}
	b.t.Store(b.t.Out("o", p.Out, tile.Array(p.Rows, p.Cols), b.rows), tile.Cast(o, p.Out))
}
