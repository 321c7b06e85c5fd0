package quantized

import (
	"matladder/problem"
	"matladder/tile"
)

// quantization is what the scales and zero points of a and b, a bias and an
// activation do to the sums of products. Refs that p does not need are nil.
type quantization struct {
	p           problem.Matmul
	scheme      problem.Scheme
	accumulator tile.Dtype

	sa, sb, za, zb *tile.Ref
	group          *tile.Ref // the scales of one group of k of a's rows, of all in sa; in scratch
	sumsA          *tile.Ref // the sum of each row of a, for zb: made ahead, or in scratch
	sumsB          *tile.Ref // the sum of each column of b, for za: made with b
	bias           *tile.Ref
	at             tile.IndexExpr // the block of groups of k, where groups have scales
}

// quantization declares the refs that p needs. Programs without an axis k see
// all of k at once.
func (t *program) quantization(i, j, k *tile.Axis) *quantization {
	p, s := t.p, t.s
	q := &quantization{p: p, scheme: t.scheme, accumulator: p.Acc}
	if q.scheme.B == problem.Block {
		q.accumulator = tile.Float32
	}
	zero := tile.IndexExpr(tile.Const(0))

	a := func(name string, d tile.Dtype) *tile.Ref {
		if t.fused && q.scheme.A == problem.Token {
			return t.Scratch(name, d, s.M, 1)
		}
		switch q.scheme.A {
		case problem.TokenBlock:
			q.group = t.Scratch(name+"_group", d, s.M, 1)
			if t.fused {
				return nil
			}
			groups := p.Groups(q.scheme)
			return t.In(name, d, t.array(p.M, groups), t.block(s.M, groups).at(i, zero))
		case problem.Token:
			return t.In(name, d, t.array(p.M, 1), t.block(s.M, 1).at(i, zero))
		}
		return t.In(name, d, t.array(1, 1), t.block(1, 1).at(zero, zero))
	}
	b := func(name string, d tile.Dtype) *tile.Ref {
		switch q.scheme.B {
		case problem.Block:
			return q.perGroup(t, name, d, j, k)
		case problem.Channel:
			return t.In(name, d, t.array(1, p.N), t.block(1, s.N).at(zero, j))
		}
		return t.In(name, d, t.array(1, 1), t.block(1, 1).at(zero, zero))
	}
	if q.scheme.A != problem.NoGrain {
		q.sa = a("sa", tile.Float32)
	}
	if q.scheme.B != problem.NoGrain {
		q.sb = b("sb", tile.Float32)
	}
	if q.scheme.ZeroA {
		q.za = a("za", tile.Int32)
		q.sumsB = t.In("b_sums", tile.Int32, t.array(1, p.N), t.block(1, s.N).at(zero, j))
	}
	if q.scheme.ZeroB {
		q.zb = b("zb", tile.Int32)
	}
	if q.scheme.ZeroB && q.scheme.B != problem.Block {
		q.sumsA = t.sumsOfA(i)
	}
	if p.Bias {
		q.bias = t.In("bias", tile.Float32, t.array(1, p.N), t.block(1, s.N).at(zero, j))
	}
	return q
}

func (t *program) sumsOfA(i *tile.Axis) *tile.Ref {
	if t.fused {
		return t.Scratch("a_sums", t.p.Acc, t.s.M, 1)
	}
	return t.In("a_sums", t.p.Acc, t.array(t.p.M, 1), t.block(t.s.M, 1).at(i, tile.Const(0)))
}

// scaled is what the sums stand for, in float32; without quantization, bias and
// activation the sums themselves.
func (q *quantization) scaled(acc tile.Value) tile.Value {
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

// scale multiplies by the scales that are not applied to each group already.
func (q *quantization) scale() func(tile.Value) tile.Value {
	sa, sb := q.sa, q.sb
	if q.scheme.B == problem.Block {
		sb = nil
	}
	if q.scheme.A == problem.TokenBlock {
		sa = nil
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

// withoutZeros takes what zero points add out of the sums, in the dtype of the
// sums:
//
//	Σ (a - za)·(b - zb) = Σ a·b - za·Σb - zb·Σa + k·za·zb
func (q *quantization) withoutZeros(acc tile.Value) tile.Value {
	zb := q.zb
	if q.scheme.B == problem.Block {
		zb = nil // taken out of each group
	}
	if q.za != nil {
		sums := tile.Value(q.sumsB)
		if zb != nil {
			sums = tile.Sub(sums, tile.Mul(zb, tile.Number(float64(q.p.K))))
		}
		acc = tile.Sub(acc, tile.Mul(q.za, sums))
	}
	if zb != nil {
		acc = tile.Sub(acc, tile.Mul(q.sumsA, tile.Cast(zb, q.p.Acc)))
	}
	return acc
}
