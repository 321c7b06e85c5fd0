package model

import (
	"slices"

	"matladder/tile"
)

// dots finds the Dots of a program and counts their FLOPs.
type dots struct {
	total int64
	err   error
}

// body adds 2·m·k·n for every Dot of a body, over all ids of axes (the grid's and
// those of loops around the body) for which conds hold.
func (d *dots) body(body []*tile.Stmt, axes []*tile.Axis, conds []tile.Cond) {
	for _, s := range body {
		switch s.Kind {
		case tile.When:
			d.body(s.Body, axes, append(slices.Clip(conds), s.Cond))
		case tile.Loop:
			d.body(s.Body, append(slices.Clip(axes), s.Axis), conds)
		case tile.Fill, tile.Store, tile.Accumulate:
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if e.Op == tile.OpDot {
					d.dot(newProduct(e), axes, conds)
				}
			})
		}
	}
}

// dot counts one Dot in closed form if nothing but the grid decides how often it
// runs on what, else by walking.
func (d *dots) dot(p product, axes []*tile.Axis, conds []tile.Cond) {
	if flops, ok := p.everywhere(axes); ok && len(conds) == 0 {
		d.total += flops
		return
	}
	if !countable(axes, append(p.indexes(), tile.Compared(conds...)...)...) {
		d.err = ErrUncountable
		return
	}
	all := tile.All(conds...)
	for at := range tile.Points(axes) {
		if tile.EvalCond(all, at) {
			d.total += p.at(at)
		}
	}
}

// product is a Dot as the dimensions of its operands: m, k of a, k of b, n.
type product [4]dimension

func newProduct(e *tile.Expr) product {
	m, ka := dimensionOf(e.Args[0], 0), dimensionOf(e.Args[0], 1)
	if e.TransA {
		m, ka = ka, m
	}
	kb, n := dimensionOf(e.Args[1], 0), dimensionOf(e.Args[1], 1)
	if e.TransB {
		kb, n = n, kb
	}
	return product{m, ka, kb, n}
}

// at counts the FLOPs of one program. Where an operand is a block of an array,
// only what lies inside the array counts.
func (p product) at(env tile.Env) int64 {
	return 2 * p[0].at(env) * min(p[1].at(env), p[2].at(env)) * p[3].at(env)
}

// everywhere sums at over all ids of axes. It is false where that takes a walk.
func (p product) everywhere(axes []*tile.Axis) (int64, bool) {
	m, k, kb, n := p[0], p[1], p[2], p[3]
	switch {
	case k.ref == nil:
		k = kb
	case kb.ref == nil:
	case k.axis() != kb.axis() || k.sum() != kb.sum():
		return 0, false // which of the two ends first may change from block to block
	}
	flops := int64(2)
	used := map[*tile.Axis]bool{}
	for _, d := range []dimension{m, k, n} {
		a := d.axis()
		if !d.plain() || a != nil && used[a] {
			return 0, false
		}
		used[a] = true
		flops *= d.sum()
	}
	for _, a := range axes {
		if !used[a] {
			flops *= int64(a.Size)
		}
	}
	return flops, true
}

func (p product) indexes() []tile.IndexExpr {
	var xs []tile.IndexExpr
	for _, d := range p {
		if d.ref != nil {
			xs = append(xs, d.index())
			if d.start != nil {
				xs = append(xs, d.start)
			}
		}
	}
	return xs
}

// dimension is one of an operand of Dot: of a block of the array of an input, or
// of a slice of it, or of a block that is whole whatever the program.
type dimension struct {
	ref   *tile.Ref // nil for a whole block
	i     int       // dimension of ref's array
	block int64
	start tile.IndexExpr // where a slice begins within ref's block; nil if it is whole
}

func dimensionOf(e *tile.Expr, dim int) dimension {
	d := dimension{block: int64(e.Shape[dim])}
	for e.Op == tile.OpCast || e.Op == tile.OpSlice && (e.Dim != dim || d.start == nil) {
		if e.Op == tile.OpSlice && e.Dim == dim {
			d.start = e.Index
		}
		e = e.Args[0]
	}
	if e.Op == tile.OpLoad && e.Ref.Kind == tile.In {
		d.ref, d.i = e.Ref, e.Ref.ArrayDim(dim)
	}
	if d.start != nil && d.ref != nil && !d.ref.Partial(dim) {
		return dimension{block: d.block} // a slice of whole blocks is whole
	}
	return d
}

func (d dimension) index() tile.IndexExpr { return d.ref.Index[d.i] }

// at returns the elements inside the array.
func (d dimension) at(env tile.Env) int64 {
	if d.ref == nil {
		return d.block
	}
	inside := int64(d.ref.Inside(d.i, tile.Eval(d.index(), env)))
	if d.start != nil {
		inside -= int64(tile.Eval(d.start, env))
	}
	return min(d.block, max(0, inside))
}

// axis returns the axis that alone moves the block along the whole array, if one does.
func (d dimension) axis() *tile.Axis {
	if d.ref == nil {
		return nil
	}
	if a, ok := d.index().(*tile.Axis); ok && a.Size == d.ref.Blocks()[d.i] {
		return a
	}
	return nil
}

// plain reports whether sum knows the dimension.
func (d dimension) plain() bool {
	if d.ref == nil || d.start == nil && d.axis() != nil {
		return true
	}
	_, fixed := d.index().(tile.Const)
	return fixed && d.start == nil
}

// sum adds the elements up over the ids of axis, if there is one.
func (d dimension) sum() int64 {
	if d.ref == nil {
		return d.block
	}
	if c, fixed := d.index().(tile.Const); fixed {
		return int64(d.ref.Inside(d.i, int(c)))
	}
	return int64(d.ref.Array[d.i])
}

// Multiplied is the dtype and precision of the first product of programs; of those without one,
// the dtype of the first input.
func Multiplied(programs []*tile.Program) (d tile.Dtype, p tile.Precision) {
	for _, program := range programs {
		program.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
			if e.Op == tile.OpDot && d == tile.InvalidDtype {
				d, p = e.Args[0].Dtype, e.Precision
			}
		})
	}
	if in := programs[0].RefsOf(tile.In); d == tile.InvalidDtype && len(in) > 0 {
		d = in[0].Dtype
	}
	return d, p
}
