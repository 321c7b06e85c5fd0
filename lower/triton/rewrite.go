package triton

import (
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// rewriter copies programs with other axes and refs. What it cannot copy makes it
// fail, and the program stays as it was.
type rewriter struct {
	axes   map[*tile.Axis]tile.IndexExpr // instead of the axis
	refs   map[*tile.Ref]*tile.Ref       // instead of the ref
	exprs  map[*tile.Expr]*tile.Expr
	resize func(old []int) []int // of a shape that does not follow from operands
	failed bool

	product func(*tile.Expr) *tile.Expr // instead of a copy of a Dot
}

func (w *rewriter) index(x tile.IndexExpr) tile.IndexExpr {
	return tile.Substitute(x, func(a *tile.Axis) tile.IndexExpr {
		y, ok := w.axes[a]
		switch {
		case !ok:
			return a
		case y == nil:
			w.failed = true
			return a
		}
		return y
	}, w.ref)
}

func (w *rewriter) ref(r *tile.Ref) *tile.Ref {
	if to, ok := w.refs[r]; ok {
		return to
	}
	return r
}

func (w *rewriter) cond(c tile.Cond) tile.Cond {
	switch c := c.(type) {
	case tile.TestCond:
		return tile.TestCond{Op: c.Op, X: w.index(c.X), Y: w.index(c.Y)}
	case tile.AllCond:
		return tile.AllCond(mlir.Each(c, w.cond))
	case tile.AnyCond:
		return tile.AnyCond(mlir.Each(c, w.cond))
	case tile.NotCond:
		return tile.NotCond{Cond: w.cond(c.Cond)}
	}
	return c
}

func (w *rewriter) body(body []*tile.Stmt) []*tile.Stmt { return mlir.Each(body, w.stmt) }

func (w *rewriter) stmt(s *tile.Stmt) *tile.Stmt {
	c := *s
	if s.Value != nil {
		c.Ref, c.Value = w.ref(s.Ref), w.expr(s.Value)
	}
	if s.Cond != nil {
		c.Cond = w.cond(s.Cond)
	}
	c.Body = w.body(s.Body)
	return &c
}

func (w *rewriter) expr(e *tile.Expr) *tile.Expr {
	if to, ok := w.exprs[e]; ok {
		return to
	}
	c := *e
	c.Args = mlir.Each(e.Args, w.expr)
	if e.Ref != nil {
		c.Ref = w.ref(e.Ref)
	}
	if e.Index != nil {
		c.Index = w.index(e.Index)
	}
	switch {
	case w.resize == nil:
	case e.Op == tile.OpLoad:
		c.Shape = c.Ref.Shape()
	case e.Op.IsElementwise():
		c.Shape = c.Args[0].Shape
	case e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum:
		c.Shape = slices.Clone(c.Args[0].Shape)
		c.Shape[e.Dim] = 1
	default:
		c.Shape = w.resize(e.Shape)
	}
	if w.exprs == nil {
		w.exprs = map[*tile.Expr]*tile.Expr{}
	}
	to := &c
	if c.Op == tile.OpDot && w.product != nil {
		to = w.product(to)
	}
	w.exprs[e] = to
	return to
}
