package scaled

import (
	"matladder/problem"
	"matladder/tile"
)

// Quantization is what the scales and zero points of a and b, a bias and an
// activation do to the sums of products. Refs that p does not need are nil.
type Quantization struct {
	p      problem.Matmul
	scheme problem.Scheme

	SA, ZA *tile.Ref // of a
	sb, zb *tile.Ref
	SumsA  *tile.Ref // the sum of each row of a, for zb: made ahead, or in scratch
	sumsB  *tile.Ref // the sum of each column of b, for za: made with b
	ta, tb *tile.Ref // the scales of all beside those of groups
	bias   *tile.Ref
}

// Quantization declares the refs that p needs, but for the scales and zero points of groups of k.
func (t *Program) Quantization(i, j *tile.Axis) *Quantization {
	p, s := t.P, t.S
	q := &Quantization{p: p, scheme: t.Scheme}
	zero := tile.IndexExpr(tile.Const(0))

	a := func(name string, d tile.Dtype) *tile.Ref {
		switch {
		case t.Fused && q.scheme.A == problem.Token:
			return t.Scratch(name, d, s.M, 1)
		case q.scheme.A == problem.Token:
			return t.In(name, d, t.Array(p.M, 1), t.Block(s.M, 1).At(i, zero))
		}
		return t.one(name, d)
	}
	b := func(name string, d tile.Dtype) *tile.Ref {
		if q.scheme.B == problem.Channel {
			return t.In(name, d, t.Array(1, p.N), t.Block(1, s.N).At(zero, j))
		}
		return t.one(name, d)
	}
	if q.scheme.A == problem.Tensor || q.scheme.A == problem.Token {
		q.SA = a("sa", tile.Float32)
	}
	switch {
	case q.scheme.B == problem.Channel || q.scheme.B == problem.Tensor:
		q.sb = b("sb", tile.Float32)
	case q.scheme.TwoLevels():
		if q.scheme.A != problem.NoGrain {
			q.ta = t.one("ta", tile.Float32)
		}
		q.tb = t.one("tb", tile.Float32)
	}
	if q.scheme.ZeroA {
		q.ZA = a("za", tile.Int32)
		q.sumsB = t.In("b_sums", tile.Int32, t.Array(1, p.N), t.Block(1, s.N).At(zero, j))
	}
	if q.scheme.ZeroB && q.scheme.B != problem.Block {
		q.zb, q.SumsA = b("zb", tile.Int32), t.sumsOfA(i)
	}
	if p.Bias {
		q.bias = t.In("bias", tile.Float32, t.Array(1, p.N), t.Block(1, s.N).At(zero, j))
	}
	return q
}

// one declares an array of one element.
func (t *Program) one(name string, d tile.Dtype) *tile.Ref {
	zero := tile.Const(0)
	return t.In(name, d, t.Array(1, 1), t.Block(1, 1).At(zero, zero))
}

func (t *Program) sumsOfA(i *tile.Axis) *tile.Ref {
	if t.Fused {
		return t.Scratch("a_sums", t.P.Acc, t.S.M, 1)
	}
	return t.In("a_sums", t.P.Acc, t.Array(t.P.M, 1), t.Block(t.S.M, 1).At(i, tile.Const(0)))
}

// Scaled is what the sums stand for, in float32; without quantization, bias and
// activation the sums themselves.
func (q *Quantization) Scaled(acc tile.Value) tile.Value {
	x := q.withoutZeros(acc)
	if s := q.scale(); s != nil {
		x = s(tile.Cast(x, tile.Float32))
	}
	if q.bias != nil {
		x = tile.Add(x, q.bias)
	}
	switch q.p.Activation {
	case problem.Relu:
		return tile.Relu(x)
	case problem.Gelu:
		return tile.Gelu(x)
	case problem.Silu:
		return tile.Silu(x)
	}
	return x
}

// scale multiplies by the scales that are not of groups of k.
func (q *Quantization) scale() func(tile.Value) tile.Value {
	sa, sb := q.SA, q.sb
	if q.tb != nil {
		sa, sb = q.ta, q.tb
	}
	switch {
	case sa == nil && sb == nil:
		return nil
	case sa == nil:
		return func(x tile.Value) tile.Value { return tile.Mul(x, sb) }
	case sb == nil:
		return func(x tile.Value) tile.Value { return tile.Mul(x, sa) }
	}
	first, last := parts(sa)
	return func(x tile.Value) tile.Value { return tile.Mul(tile.Mul(tile.Mul(x, first), sb), last) }
}

// parts are two factors of sa, one for before sb and one for after it, so that sums of codes
// times all three are in range on the way wherever they are at the end. No sum of codes but 0
// is beyond 2^±62. The first part is within 2^±64, and so is its product with a sum within
// 2^±126; the last is 1, but where sa itself is further from 1 and pulls the same way.
func parts(sa tile.Value) (first, last tile.Value) {
	first = tile.Min(tile.Max(sa, tile.Number(0x1p-64)), tile.Number(0x1p64))
	return first, tile.Div(sa, first)
}

// withoutZeros takes what zero points add out of the sums, in the dtype of the sums:
//
//	Σ (a - za)·(b - zb) = Σ a·b - za·Σb - zb·Σa + k·za·zb
func (q *Quantization) withoutZeros(acc tile.Value) tile.Value {
	if q.ZA != nil {
		sums := tile.Value(q.sumsB)
		if q.zb != nil {
			sums = tile.Sub(sums, tile.Mul(q.zb, tile.Number(float64(q.p.K))))
		}
		acc = tile.Sub(acc, tile.Mul(q.ZA, sums))
	}
	if q.zb != nil {
		acc = tile.Sub(acc, tile.Mul(q.SumsA, tile.Cast(q.zb, q.p.Acc)))
	}
	return acc
}

// Dot is the product of blocks a and b. A narrow b meets a wide a as a's dtype.
func (q *Quantization) Dot(a, b tile.Value) *tile.Expr {
	if _, d := q.p.Factors(); d != q.p.B {
		b = tile.Cast(b, d)
	}
	return tile.Dot(a, b, tile.AtPrecision(q.p.Precision))
}

// SumOfRows is the sum of each row of x, part of a's block, in the dtype of the
// product's sums; inside says which columns are a's, nil that all are.
func (q *Quantization) SumOfRows(x tile.Value, inside *tile.Expr) *tile.Expr {
	wide := tile.Cast(x, q.p.Acc)
	if inside != nil {
		wide = tile.Select(inside, wide, tile.Number(0))
	}
	return tile.RowSum(wide)
}

// Inside says which columns of a's block are inside the array; nil if all are.
func Inside(a *tile.Ref) *tile.Expr {
	if a.Kind == tile.Scratch || !a.Partial(1) {
		return nil
	}
	return tile.InBounds(a, 1)
}
