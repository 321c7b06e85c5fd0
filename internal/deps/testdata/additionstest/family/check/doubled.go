package check

import (
	"context"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.DoubledFamily, Family{
		Fill: FillPlain,
		Reference: func(_ context.Context, p problem.Problem, _ map[string]tile.Tensor, _ uint64, _ string) (Verifier, error) {
			d := p.(problem.Doubled)
			return RowByRow(d.Items, d.Parts, d.X, func(in map[string]tile.Tensor, i int, want, bound, _ []float64) {
				for j := range want {
					want[j] = 2 * in["x"].At(i*d.Parts+j)
					bound[j] = 1e-30
				}
			}), nil
		},
	})
}
