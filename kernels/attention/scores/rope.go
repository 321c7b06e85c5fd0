package scores

import (
	"matladder/kernels/rope/turn"
	"matladder/problem"
	"matladder/tile"
)

// turned is an operand of the scores' product that is turned on its way there.
type turned struct {
	by       problem.Rope
	cos, sin *tile.Ref // of the positions of its block
	to       *tile.Ref // where it lies turned, rounded as a rung of rope rounds what it stores
}

// turnings declares what q and k are turned by.
func (r *Refs) turnings() {
	p, at := r.p, r.at
	if p.Rope == problem.TurnedNone {
		return
	}
	n, example := turn.Columns(p.RopeOfKeys()), tile.IndexExpr(zero)
	if p.RowTables() > 1 {
		example = at.Batch
	}
	r.turnedQ = r.turning("row", p.RopeOfRows(p.Rows, p.Keys), at.BQ, tile.Array(p.RowTables(), p.Rows, n), tile.Block(tile.Squeezed, r.tall(), n).At(example, at.Row, zero))
	if p.Rope == problem.TurnedBoth {
		keys := at.BK
		if at.Piece > 0 {
			keys = at.Piece
		}
		r.turnedK = r.turning("key", p.RopeOfKeys(), keys, tile.Array(p.Keys, n), tile.Block(at.BK, n).At(at.Key, zero))
	}
}

func (r *Refs) turning(of string, by problem.Rope, rows int, array tile.ArrayShape, block tile.BlockSpec) *turned {
	return &turned{
		by: by, cos: r.t.In(of+"_cos", tile.Float32, array, block), sin: r.t.In(of+"_sin", tile.Float32, array, block),
		to: r.t.Scratch(of+"_turned", r.p.Dtype, rows, r.p.Dim),
	}
}

// Turn turns what is asked for, of a block that is met once.
func (r *Refs) Turn() {
	r.TurnRows()
	r.TurnKeys()
}

// TurnRows turns q where that is asked for: once for all blocks of keys that its rows meet.
func (r *Refs) TurnRows() {
	if x := r.turnedQ; x != nil {
		q := turn.By(x.by, tile.Cast(r.Q, tile.Float32), x.cos, x.sin)
		if r.at.Listed && r.Q.Partial(0) {
			q = tile.Select(tile.InBounds(r.Q, 0), q, tile.Number(0))
		}
		r.t.Store(x.to, tile.Cast(q, r.p.Dtype))
	}
}

// TurnKeys turns the block of k, or the piece of it, where that is asked for: each time that
// rows meet it.
func (r *Refs) TurnKeys() {
	if x := r.turnedK; x != nil {
		k := tile.Cast(r.keys(r.K, 0), tile.Float32)
		r.t.Store(x.to, tile.Cast(turn.By(x.by, k, r.keys(x.cos, 0), r.keys(x.sin, 0)), r.p.Dtype))
	}
}

// products are those of q and k, turned or as they are.
func (r *Refs) products() *tile.Expr {
	var q, k tile.Value = r.Q, r.keys(r.K, 0)
	if r.turnedQ != nil {
		q = r.turnedQ.to
	}
	if r.turnedK != nil {
		k = r.turnedK.to
	}
	return tile.Dot(q, k, tile.TransB)
}
