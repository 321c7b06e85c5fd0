package tile

// A Rewriter copies values. What parts of values share they still share afterwards.
type Rewriter struct {
	put  func(from, c *Expr) *Expr
	made map[*Expr]*Expr
}

// Rewriting returns the rewriter that has put say, of each node and a copy of it whose
// arguments are rewritten, what takes its place.
func Rewriting(put func(from, c *Expr) *Expr) Rewriter { return Rewriter{put, map[*Expr]*Expr{}} }

// Expr is e rewritten; nil if e is.
func (r Rewriter) Expr(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	if c := r.made[e]; c != nil {
		return c
	}
	c := *e
	c.Args = nil
	for _, arg := range e.Args {
		c.Args = append(c.Args, r.Expr(arg))
	}
	r.made[e] = r.put(e, &c)
	return r.made[e]
}

// RewriteBody copies statements. Values that two of them share they do not share afterwards.
func RewriteBody(body []*Stmt, put func(from, c *Expr) *Expr) []*Stmt {
	var out []*Stmt
	for _, s := range body {
		c := *s
		c.Value, c.Body = Rewriting(put).Expr(s.Value), RewriteBody(s.Body, put)
		out = append(out, &c)
	}
	return out
}
