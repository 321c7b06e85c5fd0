package scores

import "matladder/tile"

// Piece is how many of the keys of blocks b their rows meet at once: where b names a third length
// that divides its keys, these go through in pieces of it, in one step of the grid. Fewer scores
// then wait for each other: of 1024×1024 on v6e that spares an eighth of the cycles.
func Piece(b tile.Blocks) int {
	if b.N > 0 && b.K%b.N == 0 {
		return b.N
	}
	return b.K
}

// Each calls f with what the block's rows meet, one piece of the keys after another, turned.
func (r *Refs) Each(f func(*Refs)) {
	n := r.at.Piece
	if n == 0 || n == r.at.BK {
		r.TurnKeys()
		f(r)
		return
	}
	r.t.Loop("piece", r.at.BK/n, func(x *tile.Axis) {
		part := *r
		part.from, part.piece = tile.Times(x, n), n
		part.TurnKeys()
		f(&part)
	})
}

// keys is the piece's part of v, whose dimension dim counts the block's keys.
func (r *Refs) keys(v tile.Value, dim int) tile.Value {
	if r.piece == 0 {
		return v
	}
	return tile.Slice(v, dim, r.from, r.piece)
}
