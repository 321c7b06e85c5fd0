package worker

import (
	"fmt"
	"math"
	"slices"

	"matladder/tile"
)

// program is a tile.Program as plain data: what the original points to, it
// numbers, so that what was shared is shared again. Numbers of refs, axes and
// expressions count from 1; 0 is none.
type program struct {
	Name  string
	Axes  []axis // of the grid, then of loops
	Grid  int    // how many of Axes are the grid
	Refs  []ref
	Exprs []expr // operands first
	Body  []stmt
}

type axis struct {
	Name      string
	Size      int
	Semantics tile.Semantics
	Loop      bool
}

type ref struct {
	Name  string
	Kind  tile.RefKind
	Dtype tile.Dtype
	Array []int
	Block []int
	Index []index
	Pos   tile.Pos
}

type stmt struct {
	Kind  tile.StmtKind
	Ref   int
	Value int
	Cond  *cond
	Axis  int
	Body  []stmt
	Pos   tile.Pos
}

type expr struct {
	Op             tile.Op
	Args           []int
	Dtype          tile.Dtype
	Shape          []int
	Ref            int
	Index          *index
	Dim            int
	Value          uint64 // bits: a message has no -0
	Cmp            tile.Comparison
	TransA, TransB bool
	Precision      tile.Precision
	Pos            tile.Pos
}

// The forms of an index expression and of a condition.
const (
	formConst uint8 = iota
	formAxis
	formSum
	formProduct
	formQuotient
	formRemainder
	formLookup

	formTest
	formAll
	formAny
	formNot
)

type index struct {
	Form uint8
	N    int // the constant, or what x is multiplied or divided by
	Of   int // axis or table
	X, Y *index
}

type cond struct {
	Form  uint8
	Op    tile.Comparison
	X, Y  *index
	Parts []cond
}

// encode turns programs into data.
func encode(ps []*tile.Program) []program {
	out := make([]program, len(ps))
	for i, p := range ps {
		e := &encoder{exprs: map[*tile.Expr]int{}}
		e.axes = append(e.axes, p.Grid...)
		e.refs = p.Refs
		p.Walk(func(s *tile.Stmt) {
			if s.Axis != nil {
				e.axes = append(e.axes, s.Axis)
			}
		})
		e.out.Name, e.out.Grid = p.Name, len(p.Grid)
		for _, a := range e.axes {
			e.out.Axes = append(e.out.Axes, axis{a.Name, a.Size, a.Semantics, a.Loop})
		}
		for _, r := range p.Refs {
			x := ref{r.Name, r.Kind, r.Dtype, r.Array, r.Block, nil, r.Pos}
			for _, ix := range r.Index {
				x.Index = append(x.Index, *e.index(ix))
			}
			e.out.Refs = append(e.out.Refs, x)
		}
		e.out.Body = e.body(p.Body)
		out[i] = e.out
	}
	return out
}

type encoder struct {
	out   program
	axes  []*tile.Axis
	refs  []*tile.Ref
	exprs map[*tile.Expr]int
}

func (e *encoder) axis(a *tile.Axis) int { return slices.Index(e.axes, a) + 1 }
func (e *encoder) ref(r *tile.Ref) int   { return slices.Index(e.refs, r) + 1 }

func (e *encoder) index(x tile.IndexExpr) *index {
	switch x := x.(type) {
	case nil:
		return nil
	case tile.Const:
		return &index{Form: formConst, N: int(x)}
	case *tile.Axis:
		return &index{Form: formAxis, Of: e.axis(x)}
	case tile.Sum:
		return &index{Form: formSum, X: e.index(x.X), Y: e.index(x.Y)}
	case tile.Product:
		return &index{Form: formProduct, X: e.index(x.X), N: x.By}
	case tile.Quotient:
		return &index{Form: formQuotient, X: e.index(x.X), N: x.By}
	case tile.Remainder:
		return &index{Form: formRemainder, X: e.index(x.X), N: x.By}
	case tile.Lookup:
		return &index{Form: formLookup, Of: e.ref(x.Table), X: e.index(x.At)}
	}
	panic(fmt.Sprintf("worker: no such index expression: %T", x))
}

func (e *encoder) cond(c tile.Cond) *cond {
	parts := func(form uint8, cs ...tile.Cond) *cond {
		out := &cond{Form: form}
		for _, c := range cs {
			out.Parts = append(out.Parts, *e.cond(c))
		}
		return out
	}
	switch c := c.(type) {
	case nil:
		return nil
	case tile.TestCond:
		return &cond{Form: formTest, Op: c.Op, X: e.index(c.X), Y: e.index(c.Y)}
	case tile.AllCond:
		return parts(formAll, c...)
	case tile.AnyCond:
		return parts(formAny, c...)
	case tile.NotCond:
		return parts(formNot, c.Cond)
	}
	panic(fmt.Sprintf("worker: no such condition: %T", c))
}

func (e *encoder) expr(x *tile.Expr) int {
	if x == nil {
		return 0
	}
	if n := e.exprs[x]; n > 0 {
		return n
	}
	out := expr{
		Op: x.Op, Dtype: x.Dtype, Shape: x.Shape, Ref: e.ref(x.Ref), Index: e.index(x.Index), Dim: x.Dim,
		Value: math.Float64bits(x.Value), Cmp: x.Cmp, TransA: x.TransA, TransB: x.TransB, Precision: x.Precision, Pos: x.Pos,
	}
	for _, a := range x.Args {
		out.Args = append(out.Args, e.expr(a))
	}
	e.out.Exprs = append(e.out.Exprs, out)
	e.exprs[x] = len(e.out.Exprs)
	return len(e.out.Exprs)
}

func (e *encoder) body(body []*tile.Stmt) []stmt {
	var out []stmt
	for _, s := range body {
		x := stmt{Kind: s.Kind, Ref: e.ref(s.Ref), Value: e.expr(s.Value), Cond: e.cond(s.Cond), Body: e.body(s.Body), Pos: s.Pos}
		if s.Axis != nil {
			x.Axis = e.axis(s.Axis)
		}
		out = append(out, x)
	}
	return out
}

// decode is the inverse of encode.
func decode(in []program) []*tile.Program {
	out := make([]*tile.Program, len(in))
	for i, p := range in {
		d := &decoder{}
		for _, a := range p.Axes {
			d.axes = append(d.axes, &tile.Axis{Name: a.Name, Size: a.Size, Semantics: a.Semantics, Loop: a.Loop})
		}
		for _, r := range p.Refs { // index maps look up tables, which are refs
			d.refs = append(d.refs, &tile.Ref{Name: r.Name, Kind: r.Kind, Dtype: r.Dtype, Array: r.Array, Block: r.Block, Pos: r.Pos})
		}
		for j, r := range p.Refs {
			for _, ix := range r.Index {
				d.refs[j].Index = append(d.refs[j].Index, d.index(&ix))
			}
		}
		for _, x := range p.Exprs {
			d.exprs = append(d.exprs, d.expr(x))
		}
		out[i] = &tile.Program{Name: p.Name, Grid: d.axes[:p.Grid:p.Grid], Refs: d.refs, Body: d.body(p.Body)}
	}
	return out
}

type decoder struct {
	axes  []*tile.Axis
	refs  []*tile.Ref
	exprs []*tile.Expr
}

// numbered returns what number n of xs stands for.
func numbered[T any](xs []*T, n int) *T {
	if n == 0 {
		return nil
	}
	return xs[n-1]
}

func (d *decoder) index(x *index) tile.IndexExpr {
	if x == nil {
		return nil
	}
	switch x.Form {
	case formConst:
		return tile.Const(x.N)
	case formAxis:
		return numbered(d.axes, x.Of)
	case formSum:
		return tile.Sum{X: d.index(x.X), Y: d.index(x.Y)}
	case formProduct:
		return tile.Product{X: d.index(x.X), By: x.N}
	case formQuotient:
		return tile.Quotient{X: d.index(x.X), By: x.N}
	case formRemainder:
		return tile.Remainder{X: d.index(x.X), By: x.N}
	case formLookup:
		return tile.Lookup{Table: numbered(d.refs, x.Of), At: d.index(x.X)}
	}
	panic(fmt.Sprintf("worker: no such form of index expression: %d", x.Form))
}

func (d *decoder) cond(c *cond) tile.Cond {
	if c == nil {
		return nil
	}
	var parts []tile.Cond
	for _, p := range c.Parts {
		parts = append(parts, d.cond(&p))
	}
	switch c.Form {
	case formTest:
		return tile.TestCond{Op: c.Op, X: d.index(c.X), Y: d.index(c.Y)}
	case formAll:
		return tile.AllCond(parts)
	case formAny:
		return tile.AnyCond(parts)
	case formNot:
		return tile.NotCond{Cond: parts[0]}
	}
	panic(fmt.Sprintf("worker: no such form of condition: %d", c.Form))
}

func (d *decoder) expr(x expr) *tile.Expr {
	out := &tile.Expr{
		Op: x.Op, Dtype: x.Dtype, Shape: x.Shape, Ref: numbered(d.refs, x.Ref), Index: d.index(x.Index), Dim: x.Dim,
		Value: math.Float64frombits(x.Value), Cmp: x.Cmp, TransA: x.TransA, TransB: x.TransB, Precision: x.Precision, Pos: x.Pos,
	}
	for _, a := range x.Args {
		out.Args = append(out.Args, numbered(d.exprs, a))
	}
	return out
}

func (d *decoder) body(body []stmt) []*tile.Stmt {
	var out []*tile.Stmt
	for _, s := range body {
		out = append(out, &tile.Stmt{
			Kind: s.Kind, Ref: numbered(d.refs, s.Ref), Value: numbered(d.exprs, s.Value), Cond: d.cond(s.Cond),
			Axis: numbered(d.axes, s.Axis), Body: d.body(s.Body), Pos: s.Pos,
		})
	}
	return out
}
