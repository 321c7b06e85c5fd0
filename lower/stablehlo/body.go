package stablehlo

import (
	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// body writes statements.
func (g *grid) body(body []*tile.Stmt) {
	for _, s := range body {
		g.Pos = s.Pos
		switch s.Kind {
		case tile.When:
			g.whenHolds(s)
		case tile.Loop:
			g.loop(s)
		default:
			g.Line("// %s %s", s.Kind, s.Ref.Name)
			g.memo = map[*tile.Expr]value{}
			g.write(s)
		}
	}
}

// write writes a Fill, Store or Accumulate, rounded to what memory holds.
func (g *grid) write(s *tile.Stmt) {
	old := g.block(s.Ref)
	x := g.broadcast(g.expr(s.Value), old.Dims)
	if s.Kind == tile.Accumulate {
		x = g.Apply("add", old, x)
	}
	if s.Kind == tile.Accumulate || !isRounded(s.Value) {
		x = g.inDtype(x, s.Ref.Dtype)
	}
	if s.IsPart() {
		row := g.iota(0, old.Dims)
		from := g.compare("GE", row, g.broadcast(g.Index(s.From), old.Dims))
		to := g.compare("LT", row, g.broadcast(g.Index(s.To), old.Dims))
		x = g.choose(g.Apply("and", from, to), x, old)
	}
	g.set(s.Ref, x)
}

// isRounded reports whether e is a value of its dtype as it stands.
func isRounded(e *tile.Expr) bool {
	switch e.Op {
	case tile.OpLoad, tile.OpConst, tile.OpCast:
		return true
	case tile.OpBroadcast:
		return isRounded(e.Args[0])
	}
	return e.Dtype.IsInteger() // integers wrap in every operation
}

// whenHolds writes a When: an if whose results are the refs that its body may write.
func (g *grid) whenHolds(s *tile.Stmt) {
	changed := g.changed(s.Body)
	if len(changed) == 0 {
		return
	}
	g.Line("// when %s", s.Cond)
	after := g.branch(g.Cond(s.Cond), func() []value {
		g.body(s.Body)
		return g.of(changed)
	}, g.of(changed))
	for i, r := range changed {
		g.set(r, after[i])
	}
}

// loop writes a Loop. It carries all that its body may read, since the regions
// of a while see nothing from around them.
func (g *grid) loop(s *tile.Stmt) {
	changed := g.changed(s.Body)
	if len(changed) == 0 {
		return
	}
	g.Line("// for %s = 0..%d", s.Axis.Name, s.Axis.Size-1)
	outer := g.env
	hints, values := outer.all()
	hints, values = append([]string{mlir.Symbol(s.Axis.Name)}, hints...), append([]value{g.Int(0)}, values...)
	result := g.while(hints, values, func(v []value) value {
		return g.compare("LT", v[0], g.Int(s.Axis.Size))
	}, func(v []value) []value {
		g.env = outer.with(v[1:]).along(s.Axis, v[0])
		g.body(s.Body)
		inner := g.env
		inner.axes, inner.ids = outer.axes, inner.ids[:len(outer.ids)]
		_, next := inner.all()
		return append([]value{g.Apply("add", v[0], g.Int(1))}, next...)
	})
	after := outer.with(result[1:])
	g.env = outer
	for _, r := range changed {
		g.set(r, after.block(r))
	}
}

// changed are the refs that body may write, in the order of the program.
func (g *grid) changed(body []*tile.Stmt) []*tile.Ref {
	return each.That(g.program.Refs, func(r *tile.Ref) bool { return tile.Writes(body, r) })
}

// inDtype rounds or wraps a working value to one that d has.
func (t *text) inDtype(x value, d tile.Dtype) value {
	if d.IsInteger() {
		return t.wrapped(x, d)
	}
	return t.rounded(x, d)
}
