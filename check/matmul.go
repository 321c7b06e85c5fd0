package check

import (
	"context"
	"math"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.MatmulFamily, Family{
		Fill: func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
			return fillMatmul(ctx, t, name, p.(problem.Matmul), seed, dist)
		},
		HasExact: func(p problem.Problem) bool {
			_, err := newPattern(p.(problem.Matmul), 0, 0, Exact)
			return err == nil
		},
		Reference: func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error) {
			r, err := referenceOfMatmul(ctx, p.(problem.Matmul), in, seed, dist)
			if err != nil {
				return nil, err // and no Verifier that is a nil pointer
			}
			return r, nil
		},
	})
}

// referenceOfMatmul is ReferenceOf, with what quantization costs.
func referenceOfMatmul(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, seed uint64, dist string) (*Reference, error) {
	if IsExact(dist) {
		return newAnswers(ctx, p, seed, dist)
	}
	if dist == Changed {
		return newReferenceOf(ctx, p, in, maxProducts/16, seed)
	}
	r, err := NewReference(ctx, p, in)
	if err != nil || dist == given {
		return r, err
	}
	r.isConstant(dist)
	return r, r.Unquantized(ctx, in, seed, dist)
}

// fillMatmul is Fill. Quantized operands are what package quant makes of floats of the
// distribution, scales and zero points what it finds for them. Of other distributions the codes
// are those numbers, and scales and zero points are drawn.
func fillMatmul(ctx context.Context, t tile.Tensor, name string, p problem.Matmul, seed uint64, dist string) error {
	if done, err := fillQuantized(ctx, t, name, p, seed, dist); done || err != nil {
		return err
	}
	if IsExact(dist) {
		return fillExact(ctx, t, name, p, seed, dist)
	}
	start := startOf(name, seed)
	switch {
	case name == "sa" || name == "sb" || name == "ta" || name == "tb": // positive, near 1/128
		for i := range t.Len() {
			t.Set(i, math.Ldexp(1+unit(start, i), -8))
		}
		return nil
	case name == "za" || name == "zb":
		for i := range t.Len() {
			t.Set(i, float64(mix(start+uint64(i))%5)-2)
		}
		return nil
	case dist == Normal && t.Dtype.IsFloat():
		x := original(name, p, seed, dist)
		return setEach(ctx, t, func(i int) float64 { return float64(x(i)) })
	case dist != Integers && t.Dtype.IsInteger():
		return fillIntegers(ctx, t, name, p, seed)
	}
	return FillPlain(ctx, t, name, p, seed, dist)
}

// fillIntegers sets an array to integers over their whole range, one pair of neighbours in
// k in sixteen to its ends.
func fillIntegers(ctx context.Context, t tile.Tensor, name string, p problem.Matmul, seed uint64) error {
	lo, hi := t.Dtype.Range()
	anyInteger := anyOf(t.Dtype, startOf(name, seed))
	pair, pairs := pairOf(name, p), startOf(name+" extremes", seed)
	return setEach(ctx, t, func(i int) float64 {
		switch h := mix(pairs + uint64(pair(i))); {
		case h>>60 > 0:
			return anyInteger(i)
		case h&1 > 0:
			return lo
		}
		return hi
	})
}
