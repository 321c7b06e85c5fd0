package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// accumulate adds the product of one block to acc. A narrow b meets a wide a as
// a's dtype.
func (t *program) accumulate(q *quantization, acc, a, b *tile.Ref) {
	if q.scheme.B == problem.Block {
		t.accumulateGroups(q, acc, a, b)
		return
	}
	t.Accumulate(acc, q.dot(a, b))
}

func (q *quantization) dot(a, b tile.Value) *tile.Expr {
	if _, d := q.p.Factors(); d != q.p.B {
		b = tile.Cast(b, d)
	}
	return tile.Dot(a, b, tile.AtPrecision(q.p.Precision))
}

// sumOfRows is the sum of each row of x, part of a's block, in the dtype of the
// product's sums; inside says which columns are a's, nil that all are.
func (q *quantization) sumOfRows(x tile.Value, inside *tile.Expr) *tile.Expr {
	wide := tile.Cast(x, q.p.Acc)
	if inside != nil {
		wide = tile.Select(inside, wide, tile.Number(0))
	}
	return tile.RowSum(wide)
}

// inside says which columns of a's block are inside the array; nil if all are.
func inside(a *tile.Ref) *tile.Expr {
	if a.Kind == tile.Scratch || !a.Partial(1) {
		return nil
	}
	return tile.InBounds(a, 1)
}

// perGroup declares an array with one element for each group of k of a column.
func (q *quantization) perGroup(t *program, name string, d tile.Dtype, j, k *tile.Axis) *tile.Ref {
	p, zero := q.p, tile.IndexExpr(tile.Const(0))
	all, block := p.Groups(q.scheme), groupsOf(q.scheme, t.s)
	q.at = zero
	switch {
	case k == nil:
	case t.s.K < q.scheme.Block && q.scheme.Block%t.s.K == 0: // a group goes on over several blocks
		q.at = tile.FloorDiv(k, q.scheme.Block/t.s.K)
	default:
		q.at = k
	}
	return t.In(name, d, t.array(all, 1, p.N), t.block(block, tile.Squeezed, t.s.N).at(q.at, zero, j))
}

// accumulateGroups adds the product of each group of k, scaled: the sums of one
// group are as exact as the product's, those of all are float32.
func (t *program) accumulateGroups(q *quantization, acc, a, b *tile.Ref) {
	count, size := groupsOf(q.scheme, t.s), q.scheme.Block
	if count == 1 {
		part := t.groupOfA(q, a, inside(a), q.at)
		t.Accumulate(acc, q.product(part, b, inside(a), func(r *tile.Ref) tile.Value { return r }))
		return
	}
	t.Loop("g", count, func(g *tile.Axis) {
		from := tile.Times(g, size)
		in := inside(a)
		if in != nil {
			in = tile.Slice(in, 1, from, size)
		}
		part := t.groupOfA(q, tile.Slice(a, 1, from, size), in, tile.Plus(tile.Times(q.at, count), g))
		t.Accumulate(acc, q.product(part, tile.Slice(b, 0, from, size), in, func(r *tile.Ref) tile.Value {
			x := tile.Slice(r, 0, g, 1)
			if !r.Partial(0) {
				return x
			}
			// The last block may have whole groups past the end.
			return tile.Select(tile.Slice(tile.InBounds(r, 0), 0, g, 1), x, tile.Number(0))
		}))
	})
}

// product is the scaled product of parts a and b of one group; of picks the
// group's elements of sb and zb.
func (q *quantization) product(a, b tile.Value, inside *tile.Expr, of func(*tile.Ref) tile.Value) tile.Value {
	sum := q.dot(a, b)
	if q.zb != nil {
		sum = tile.Sub(sum, tile.Mul(q.sumOfRows(a, inside), tile.Cast(of(q.zb), q.p.Acc)))
	}
	sum = tile.Mul(tile.Cast(sum, tile.Float32), of(q.sb))
	if q.group != nil {
		sum = tile.Mul(sum, q.group)
	}
	return sum
}

// groupOfA is the part of a's block of one group of k as the product meets it. Where
// groups of a have scales, those of this one are put where they are a column first:
// all that a row has lie side by side, and a slice may begin only at places that are
// known. Where a comes wide, it is quantized here.
func (t *program) groupOfA(q *quantization, part tile.Value, inside *tile.Expr, group tile.IndexExpr) tile.Value {
	switch {
	case q.group == nil:
		return part
	case q.sa != nil:
		is := tile.Compare(tile.Iota(1, q.sa.Shape()...), tile.EQ, tile.IndexValue(group))
		t.Store(q.group, tile.RowSum(tile.Select(is, q.sa, tile.Number(0))))
		return part
	}
	x := tile.Cast(part, tile.Float32)
	if inside != nil {
		x = tile.Select(inside, x, tile.Number(0))
	}
	t.step(q.group, nil, t.p.A, nil, nil, tile.RowMax(tile.Abs(x)))
	return codesOf(x, q.group, nil, t.p.A)
}
