package check

import (
	"context"
	"fmt"
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Verify compares out with the reference of the same inputs. programs say how
// often the result is rounded on its way.
func (r *Reference) Verify(ctx context.Context, programs []*tile.Program, in map[string]tile.Tensor, out tile.Tensor) (Result, error) {
	p := r.p
	ops, err := operandsOf(p, in)
	if err != nil {
		return Result{}, err
	}
	if len(out.Shape) != 2 || out.Shape[0] != p.M || out.Shape[1] != p.N || out.Dtype != p.Out {
		return Result{}, fmt.Errorf("check: output is %s%v, want %s[%d %d]", out.Dtype, out.Shape, p.Out, p.M, p.N)
	}
	step := roundingStep(programs, p)
	values, err := r.values(ctx, ops, step)
	if err != nil {
		return Result{}, err
	}
	limit := newBound(p, step).multiplied(r.products)
	res := r.compareRows(values, limit, out)
	if p.Activation == problem.NoActivation {
		r.compareProbes(&res, limit, out)
	}
	if !res.OK && res.Detail == "" {
		res.Detail = fmt.Sprintf("error is %.3g times its bound", res.ErrOverBound)
	}
	return res, ctx.Err()
}

// roundingStep returns every how many elements of k the running sum is rounded
// to the output's dtype: k itself if only the result is.
func roundingStep(programs []*tile.Program, p problem.Matmul) int {
	step := p.K
	for _, prog := range programs {
		prog.Walk(func(s *tile.Stmt) {
			if s.Kind != tile.Accumulate || s.Ref.Kind != tile.Out || s.Ref.Dtype == s.Value.Dtype {
				return
			}
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if e.Op == tile.OpDot {
					k := e.Args[0].Shape[1]
					if e.TransA {
						k = e.Args[0].Shape[0]
					}
					step = min(step, k)
				}
			})
		})
	}
	return step
}

// compareRows compares the sampled rows element by element.
func (r *Reference) compareRows(v *rowValues, b bound, out tile.Tensor) Result {
	res := Result{OK: true}
	var err2, ref2, worst float64
	n := r.p.N
	got := make([]float64, n)
	for i, row := range r.rows {
		decode(got, out, row*n, 1)
		for j, g := range got {
			at := i*n + j
			want := r.scale * v.sum[at]
			limit := b.element(want, r.scale*v.sumAbs[at], r.scale*v.cuts[at], r.scale*math.Sqrt(v.cuts2[at]))
			if b.exact {
				want = float64(int32(int64(want)))
			}
			want = activate(r.p.Activation, want)
			e := math.Abs(g - want)
			err2 += e * e
			ref2 += want * want
			if e == 0 || e/limit <= worst {
				continue
			}
			if worst = e / limit; !(worst >= 0) { // NaN: wrong, and worse than anything
				worst = math.Inf(1)
			}
			if !(e <= limit) {
				res.OK = false
				res.Detail = fmt.Sprintf("o[%d, %d] is %.9g, should be %.9g within %.2g", row, j, g, want, limit)
			}
		}
	}
	res.ErrOverBound = worst
	if ref2 > 0 {
		res.RelErr = math.Sqrt(err2 / ref2)
	} else {
		res.RelErr = math.Sqrt(err2)
	}
	return res
}

// compareProbes compares random combinations of every row, to catch what is
// wrong outside the sampled rows.
func (r *Reference) compareProbes(res *Result, b bound, out tile.Tensor) {
	p := r.p
	row := make([]float64, p.N)
	for i := range p.M {
		decode(row, out, i*p.N, 1)
		limit := b.combination(p.N, r.scale*math.Sqrt(r.normA[i]*r.normB))
		for _, pr := range r.probes {
			got, want := dot(row, pr.x), r.scale*pr.want[i]
			e := math.Abs(got - want)
			if b.exact && e != 0 { // sums of int32 wrap around
				e = math.Abs(float64(int32(int64(got) - int64(want))))
			}
			if e <= limit {
				continue
			}
			ratio := e / limit
			if !(ratio >= 0) {
				ratio = math.Inf(1)
			}
			if ratio > res.ErrOverBound || res.OK {
				res.ErrOverBound = max(ratio, res.ErrOverBound)
				if res.OK {
					res.Detail = fmt.Sprintf("row %d of o is wrong: a random ±combination of it is off by %.3g, at most %.3g is rounding", i, e, limit)
				}
				res.OK = false
			}
		}
	}
}

// activate is the epilogue's activation in float64.
func activate(a problem.Activation, x float64) float64 {
	switch a {
	case problem.Relu:
		return max(x, 0)
	case problem.Gelu:
		return x * 0.5 * (1 + math.Erf(x/math.Sqrt2))
	case problem.Silu:
		return x / (1 + math.Exp(-x))
	}
	return x
}
