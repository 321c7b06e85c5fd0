package check

import (
	"context"
	"math"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.NormFamily, Family{
		Fill: fillNorm,
		Reference: func(_ context.Context, p problem.Problem, _ map[string]tile.Tensor, _ uint64, _ string) (Verifier, error) {
			n := p.(problem.Norm)
			o := RowByRow(n.Rows, n.Cols, n.Out, func(in map[string]tile.Tensor, i int, want, bound, x []float64) {
				normRow(n, in, i, want, bound, x)
			})
			if !n.Residual {
				return o, nil
			}
			return Together(o, RowsOf("sum", n.Rows, n.Cols, n.X, func(in map[string]tile.Tensor, i int, want, bound, scratch []float64) {
				summedRow(n, in, i, want, scratch)
				clear(bound) // there is one right answer
			})), nil
		},
	})
}

// fillNorm sets an array: one row of x in five lies 64 higher and one 64 lower, sixty times
// as far from zero as it is wide, so that squares of what was not centred leave little of
// its variance; b is small, so that it hides no error.
func fillNorm(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
	if err := FillPlain(ctx, t, name, p, seed, dist); err != nil {
		return err
	}
	cols := p.(problem.Norm).Cols
	switch name {
	case "x":
		offset := [...]float64{0, 64, 0, -64, 0}
		return setEach(ctx, t, func(i int) float64 { return t.At(i) + offset[i/cols%len(offset)] })
	case "b":
		return setEach(ctx, t, func(i int) float64 { return t.At(i) / 8 })
	}
	return nil
}

// summedRow sets x to row i of x and the residual together, as they are rounded: float32
// has at least twice the digits of bfloat16 and two more, and float64 of float32, so that
// rounding twice is rounding once.
func summedRow(p problem.Norm, in map[string]tile.Tensor, i int, x, scratch []float64) {
	in["x"].Decode(x, i*p.Cols, 1)
	if !p.Residual {
		return
	}
	in["residual"].Decode(scratch, i*p.Cols, 1)
	for j := range x {
		x[j] = rounded(p.X, x[j]+scratch[j])
	}
}

// normRow sets want to row i of o, and bound to how far a program in float32 may be off.
// Let u be the unit roundoff of float32, n the number of columns, m the mean of a row x, v
// its variance, r = 1/√(v+ε) and z = (x−m)·r. Errors, to first order:
//
//	m    a sum of n terms, n·u or as noise 6·√n·u (see bound), and a product, of the mean
//	     of |x|
//	x−m  u·|x−m| and what m is off; where a shift is taken out of x first, as much again
//	v    relative, of sums of squares that are about centred: twice a sum's error and 8·u,
//	     where the shift may be one standard deviation from the mean; and the square of
//	     what m is off
//	r    half of v's, and 16·u of the function, which libraries that are fast promise
//	o    4·u of products and sums, of |z·w| + |b|; and the rounding to its dtype
//
// An RMS norm is the same with a mean of zero that is exact.
func normRow(p problem.Norm, in map[string]tile.Tensor, i int, want, bound, x []float64) {
	const u = 0x1p-24
	summedRow(p, in, i, x, want)
	n := float64(len(x))
	of := (min(n, sigmas*math.Sqrt(n)) + 2) * u // of a sum
	mean, size, square := 0.0, 0.0, 0.0
	if !p.RMS {
		for _, v := range x {
			mean += v / n
			size += math.Abs(v) / n
		}
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / n
	}
	off := of * size // of the mean
	inverse := 1 / math.Sqrt(square+p.Eps())
	relative := ((2*of+8*u)*square+off*off)*inverse*inverse/2 + 16*u

	in["w"].Decode(want, 0, 1)
	if !p.RMS {
		in["b"].Decode(bound, 0, 1)
	} else {
		clear(bound)
	}
	for j, v := range x {
		w, b := want[j], bound[j]
		if p.Offset {
			w++
		}
		z := (v - mean) * inverse
		want[j] = z*w + b
		e := (2*(u*math.Abs(v-mean)+off)*inverse+math.Abs(z)*relative)*math.Abs(w) + 4*u*(math.Abs(z*w)+math.Abs(b))
		e += p.Out.Epsilon() * (math.Abs(want[j]) + e)
		bound[j] = e*1.01 + tile.Float32.SmallestNormal() + p.Out.SmallestNormal()
	}
}
