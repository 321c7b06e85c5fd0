package check

import (
	"context"

	"matladder/problem"
	"matladder/tile"
)

// Unquantized makes r measure what quantization costs: it computes the sampled
// rows on the operands that Fill quantized, from the same seed and distribution.
// It does nothing for a problem without quantization, and none for inputs of
// small integers, which no quantizer made.
func (r *Reference) Unquantized(ctx context.Context, in map[string]tile.Tensor, seed uint64, dist string) error {
	scheme, err := r.p.Scheme()
	if err != nil || scheme.B == problem.NoGrain || dist == Integers {
		return err
	}
	if r.parts == nil {
		return r.unquantized(ctx, r.p, in, 0, seed, dist)
	}
	for e, part := range r.parts {
		one, err := elementOf(r.p, in, e)
		if err != nil {
			return err
		}
		if err := part.unquantized(ctx, r.p, one, e, seed, dist); err != nil {
			return err
		}
	}
	return nil
}

// unquantized is Unquantized of element e of the batch of p.
func (r *Reference) unquantized(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, e int, seed uint64, dist string) error {
	ops, err := operandsOf(ctx, r.p, in)
	if err != nil {
		return err
	}
	a, b := original("a", p, seed, dist), original("b", p, seed, dist)
	avals := make([][]float64, len(r.rows))
	for i, row := range r.rows {
		avals[i] = make([]float64, p.K)
		if isWide := p.A.Bits() > 8; isWide {
			ops.a.Decode(avals[i], row*p.K, 1)
			continue
		}
		for k := range avals[i] {
			avals[i][k] = float64(a((e*p.M+row)*p.K + k))
		}
	}
	r.meant = make([]float64, len(r.rows)*p.N)
	return parallel(ctx, p.N, func(lo, hi int) {
		brow := make([]float64, hi-lo)
		for k := 0; k < p.K && ctx.Err() == nil; k++ {
			for j := range brow {
				brow[j] = float64(b((e*p.K+k)*p.N + lo + j))
			}
			for i := range r.rows {
				av, sums := avals[i][k], r.meant[i*p.N+lo:i*p.N+hi]
				for j, bv := range brow {
					sums[j] += av * bv
				}
			}
		}
		for i := range r.rows {
			sums := r.meant[i*p.N+lo : i*p.N+hi]
			for j := range sums {
				sums[j] = activate(p.Activation, sums[j]+ops.bias[lo+j])
			}
		}
	})
}
