package check

import (
	"context"
	"math"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.SoftmaxFamily, Family{
		Fill: fillSoftmax,
		Reference: func(_ context.Context, p problem.Problem, _ map[string]tile.Tensor, _ uint64, _ string) (Verifier, error) {
			s := p.(problem.Softmax)
			return RowByRow(s.Rows, s.Cols, s.Out, func(in map[string]tile.Tensor, i int, want, bound, scratch []float64) {
				softmaxRow(s, in["x"], i, want, bound, scratch)
			}), nil
		},
	})
}

// fillSoftmax sets x: four times what the distribution draws, so that few elements of a
// row make most of its sum. One row in five is 96 higher, and one 96 lower: what does not
// take the largest out before e^x overflows there, or divides by nothing.
func fillSoftmax(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
	if err := FillPlain(ctx, t, name, p, seed, dist); err != nil {
		return err
	}
	cols := p.(problem.Softmax).Cols
	offset := [...]float64{0, 96, 0, -96, 0}
	return setEach(ctx, t, func(i int) float64 { return 4*t.At(i) + offset[i/cols%len(offset)] })
}

// softmaxRow sets want to row i of the output, and bound to how far a program in float32
// may be off. Let u be the unit roundoff of float32, d = x - max(x) of one element, s the
// sum of e^d. Relative errors, to first order:
//
//	d      one rounding, u·|d| of d, which is as much of e^d; where e^d is 2^(d·log2 e), the
//	       product rounds, and log2 e did: 3·u·|d| together
//	e^d    what the function is off: 16·u, four units in the last place, which is what
//	       libraries promise that are fast
//	s      of n terms one after another (n-1)·u, or 6·√n·u as noise (see bound); beside it
//	       the terms' own errors, each with its weight in the sum
//	e^d/s  the quotient: 4·u where the inverse of s is multiplied with
//
// and the rounding to the output's dtype. What lies below the smallest normal number may
// be taken for nothing, in e^d, where s is at least 1, and in the output.
func softmaxRow(p problem.Softmax, x tile.Tensor, i int, want, bound, d []float64) {
	const u = 0x1p-24
	x.Decode(d, i*p.Cols, 1)
	largest := math.Inf(-1)
	for _, v := range d {
		largest = math.Max(largest, v)
	}
	sum, weighted := 0.0, 0.0
	for j := range d {
		d[j] -= largest
		want[j] = math.Exp(d[j])
		sum += want[j]
		weighted += want[j] * -d[j]
	}
	n := float64(p.Cols)
	all := (3*weighted/sum + 16 + min(n, sigmas*math.Sqrt(n)) + 4) * u // s and the quotient
	least := tile.Float32.SmallestNormal() + p.Out.SmallestNormal()
	for j := range want {
		want[j] /= sum
		relative := all + (3*-d[j]+16)*u
		relative += p.Out.Epsilon() * (1 + relative)
		bound[j] = want[j]*relative*1.01 + least // second-order terms are below a hundredth of it
	}
}
