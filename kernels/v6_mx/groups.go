package mx

import (
	"fmt"

	"matladder/kernels/scaled"
	"matladder/problem"
	"matladder/tile"
)

// groups are those of k that share scales.
type groups struct {
	*scaled.Quantization
	t           *scaled.Program
	size, count int            // elements of a group; groups in one block, 1 if a group goes on over several
	at          tile.IndexExpr // the block of groups

	sb, zb *tile.Ref // (groups, n): of b
	sa     *tile.Ref // (rows, groups): of a, all that a row has; nil where a has none of its own
	group  *tile.Ref // (rows, 1): of a, of one group, in scratch
}

// groupsOf declares the scales and zero points. Programs without an axis k see all of k at once.
func groupsOf(t *scaled.Program, i, j, k *tile.Axis) *groups {
	p, s, zero := t.P, t.S, tile.IndexExpr(tile.Const(0))
	size := t.Scheme.Block
	q := &groups{t: t, size: size, count: tile.Ceil(s.K, size), at: zero}
	switch {
	case k == nil:
	case s.K < size: // a group goes on over several blocks
		q.at = tile.FloorDiv(k, size/s.K)
	default:
		q.at = k
	}
	all := p.Groups(t.Scheme)
	if t.Scheme.A == problem.TokenBlock && !t.Fused {
		q.sa = t.In("sa", t.Scheme.Scales, t.Array(p.M, all), t.Block(s.M, all).At(i, zero))
	}
	ofB := func(name string, d tile.Dtype) *tile.Ref {
		return t.In(name, d, t.Array(all, 1, p.N), t.Block(q.count, tile.Squeezed, s.N).At(q.at, zero, j))
	}
	q.sb = ofB("sb", t.Scheme.Scales)
	if t.Scheme.ZeroB {
		q.zb = ofB("zb", tile.Int32)
	}
	q.Quantization = t.Quantization(i, j)
	return q
}

// oneOfA declares the scratch in which scales of a meet their group.
func (q *groups) oneOfA() {
	if q.t.Scheme.A == problem.TokenBlock {
		q.group = q.t.Scratch("sa_group", tile.Float32, q.t.S.M, 1)
	}
}

// group is what a and b have of one group of k; nil where there is none.
type group struct {
	*groups
	a, b, sa, sb, zb tile.Value
	inside           *tile.Expr // which columns of a are a's
}

// dot is the product of the group's codes.
func (g group) dot() *tile.Expr {
	sum := g.Dot(g.a, g.b)
	if g.zb != nil {
		sum = tile.Sub(sum, tile.Mul(g.SumOfRows(g.a, g.inside), tile.Cast(g.zb, g.t.P.Acc)))
	}
	return sum
}

// each calls do for each group of a block.
func (q *groups) each(a, b *tile.Ref, do func(g group)) {
	in := scaled.Inside(a)
	if q.count == 1 {
		do(q.of(a, b, in, q.at, func(r *tile.Ref) tile.Value { return q.wide(r, r) }))
		return
	}
	q.t.Loop("g", q.count, func(g *tile.Axis) {
		from := tile.Times(g, q.size)
		inside := in
		if in != nil {
			inside = tile.Slice(in, 1, from, q.size)
		}
		row := func(r *tile.Ref) tile.Value { return q.row(r, g) }
		do(q.of(tile.Slice(a, 1, from, q.size), tile.Slice(b, 0, from, q.size), inside, tile.Plus(tile.Times(q.at, q.count), g), row))
	})
}

// row is that of group g of a block.
func (q *groups) row(r *tile.Ref, g tile.IndexExpr) tile.Value {
	x := q.wide(r, tile.Slice(r, 0, g, 1))
	if !r.Partial(0) {
		return x
	}
	// The last block may have whole groups past the end.
	return tile.Select(tile.Slice(tile.InBounds(r, 0), 0, g, 1), x, tile.Number(0))
}

// of is the group with parts a and b; row picks its row of scales of b. The scales of a of the
// group are put where they are a column first: all that a row has lie side by side, and a slice
// may begin only at places that are known. Where a comes wide, it is quantized here.
func (q *groups) of(a, b tile.Value, inside *tile.Expr, index tile.IndexExpr, row func(*tile.Ref) tile.Value) group {
	g := group{groups: q, a: a, b: b, sb: row(q.sb), inside: inside}
	if q.zb != nil {
		g.zb = row(q.zb)
	}
	if q.group == nil {
		return g
	}
	g.sa = q.group
	if q.sa != nil {
		is := tile.Compare(tile.Iota(1, q.sa.Shape()...), tile.EQ, tile.IndexValue(index))
		q.t.Store(q.group, tile.RowSum(tile.Select(is, q.wide(q.sa, q.sa), tile.Number(0))))
		return g
	}
	x := tile.Cast(a, tile.Float32)
	if inside != nil {
		x = tile.Select(inside, x, tile.Number(0))
	}
	q.t.Step(q.group, nil, q.t.P.A, nil, nil, tile.RowMax(tile.Abs(x)))
	g.a = q.t.CodesOf(x, q.group, nil, q.t.P.A)
	return g
}

// wide is scales, of float32 or narrow, or zero points, as a group meets them.
func (*groups) wide(r *tile.Ref, x tile.Value) tile.Value {
	if r.Dtype == tile.Int32 {
		return x
	}
	return tile.Cast(x, tile.Float32)
}

// times is x by the scales s of a group, where there are any.
func times(x, s tile.Value) tile.Value {
	if s == nil {
		return x
	}
	return tile.Mul(x, s)
}

// wholeGroups returns s with bk a whole number of groups of k, or a whole part
// of one. A block of all of k is rounded up; any other is an error.
func wholeGroups(scheme problem.Scheme, p problem.Matmul, s tile.Blocks) (tile.Blocks, error) {
	switch g := scheme.Block; {
	case s.K%g == 0 || g%s.K == 0:
	case s.K < p.K:
		return s, fmt.Errorf("%s: blocks %s: bk must be a multiple or a divisor of the %d elements of k that share a scale", name, s, g)
	case s.K > g:
		s.K = tile.Ceil(s.K, g) * g
	}
	return s, nil
}
