package passes

import "matladder/tile"

// rewriter copies expressions. What an expression shares with another it still shares
// afterwards.
type rewriter struct {
	put  func(from, c *tile.Expr) *tile.Expr
	made map[*tile.Expr]*tile.Expr
}

// rewriting returns the rewriter that has put say, of each node and a copy of it whose
// arguments are rewritten, what takes its place.
func rewriting(put func(from, c *tile.Expr) *tile.Expr) rewriter {
	return rewriter{put, map[*tile.Expr]*tile.Expr{}}
}

// expr is e rewritten; nil if e is.
func (r rewriter) expr(e *tile.Expr) *tile.Expr {
	if e == nil {
		return nil
	}
	if c := r.made[e]; c != nil {
		return c
	}
	c := *e
	c.Args = nil
	for _, arg := range e.Args {
		c.Args = append(c.Args, r.expr(arg))
	}
	r.made[e] = r.put(e, &c)
	return r.made[e]
}
