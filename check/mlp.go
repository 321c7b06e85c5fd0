package check

import (
	"context"
	"fmt"
	"math"
	"strings"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

func init() {
	Register(problem.MLPFamily, Family{
		Fill: fillMLP,
		Reference: func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, _ uint64, _ string) (Verifier, error) {
			return newMLPReference(ctx, p.(problem.MLP), in)
		},
	})
}

// fillMLP makes weights so small that sums are about one, where gates bend. Scales of
// narrow weights do so for them, each column's its own.
func fillMLP(ctx context.Context, t tile.Tensor, name string, asked problem.Problem, seed uint64, dist string) error {
	p := asked.(problem.MLP)
	if err := FillPlain(ctx, t, name, p, seed, dist); err != nil || dist == Integers {
		return err
	}
	by := 3 / math.Sqrt(float64(p.K)) // of uniform numbers, whose variance is a third
	switch {
	case strings.HasSuffix(name, "_scale"):
		if p.W.IsInteger() {
			by /= 128
		}
		return setEach(ctx, t, func(i int) float64 { return by * (1.25 + t.At(i)/2) })
	case name != "x" && !p.Scaled():
		return setEach(ctx, t, func(i int) float64 { return by * t.At(i) })
	}
	return nil
}

// mlpReference has what float64 makes of o where some rows meet some columns: of all if
// that is little work, else of a lattice whose meshes are far smaller than a block.
type mlpReference struct {
	p          problem.MLP
	rows, cols []int
	sums       [][]mlpSums // by row and column
	off        float64
}

// mlpSums are one element's two sums of products, with Σ|x·w| of each.
type mlpSums struct{ gate, gateAbs, up, upAbs float64 }

func newMLPReference(ctx context.Context, p problem.MLP, in map[string]tile.Tensor) (*mlpReference, error) {
	budget := max(sampledWork/(2*p.K), 64)
	n := int(math.Sqrt(float64(budget)))
	rows := min(p.Rows, n)
	cols := min(p.N, budget/rows)
	rows = min(p.Rows, budget/cols)
	r := &mlpReference{p: p, rows: oneOfEach(p.Rows, rows), cols: oneOfEach(p.N, cols)}
	x := make([][]float64, rows)
	for i, row := range r.rows {
		x[i] = make([]float64, p.K)
		in["x"].Decode(x[i], row*p.K, 1)
	}
	r.sums = make([][]mlpSums, rows)
	for i := range r.sums {
		r.sums[i] = make([]mlpSums, cols)
	}
	return r, parallel(ctx, cols, func(lo, hi int) {
		gate, up := make([]float64, p.K), make([]float64, p.K)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			in["gate"].Decode(gate, r.cols[j], p.N)
			in["up"].Decode(up, r.cols[j], p.N)
			if p.Scaled() {
				scale(gate, in["gate_scale"].At(r.cols[j]))
				scale(up, in["up_scale"].At(r.cols[j]))
			}
			for i, row := range x {
				s := &r.sums[i][j]
				s.gate, s.gateAbs = dotAbs(row, gate)
				s.up, s.upAbs = dotAbs(row, up)
			}
		}
	})
}

// oneOfEach are n of 0 … all-1, one in each part of as many, at places that differ; the last
// is among them.
func oneOfEach(all, n int) []int {
	list := make([]int, n)
	for i := range list {
		from, to := i*all/n, (i+1)*all/n
		list[i] = from + int(mix(uint64(i))%uint64(to-from))
	}
	list[n-1] = all - 1
	return list
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// dotAbs is the sum of products, and that of their magnitudes.
func dotAbs(x, y []float64) (sum, abs float64) {
	for i, v := range x {
		v *= y[i]
		sum += v
		abs += math.Abs(v)
	}
	return sum, abs
}

// ProductsOff is Verifier's.
func (r *mlpReference) ProductsOff(part float64) { r.off = part }

// Verify is Verifier's. Beside the reference's elements it looks at all: each is a number.
//
// Sums of k products are off by k·u or, as noise, 6·√k·u of Σ|x·w| (see bound), by 3·u more
// where they are scaled, and by a rounding to the dtype of x where a program stores them.
// What the activation makes of that is said by activated.
func (r *mlpReference) Verify(ctx context.Context, _ []*tile.Program, _, outputs map[string]tile.Tensor) (Result, error) {
	const u = 0x1p-24
	p, out, result := r.p, outputs["o"], Result{OK: true}
	if out.Len() != p.Rows*p.N || out.Dtype != p.X {
		return result, fmt.Errorf("check: output o is %s%v, want %s of %d×%d", out.Dtype, out.Shape, p.X, p.Rows, p.N)
	}
	k := float64(p.K)
	sum := (min(k, sigmas*math.Sqrt(k))+3)*u + r.off
	var errors quant.Sum
	for i, row := range r.rows {
		for j, col := range r.cols {
			s, got := r.sums[i][j], out.At(row*p.N+col)
			a := gated(p.Activation, s.gate)
			gate := sum*s.gateAbs + p.X.Epsilon()*math.Abs(s.gate)
			act := activated(func(x float64) float64 { return gated(p.Activation, x) }, s.gate, gate, tile.Float32)
			up := sum*s.upAbs + p.X.Epsilon()*math.Abs(s.up)
			want := a * s.up
			bound := act*(math.Abs(s.up)+up) + math.Abs(a)*up + 2*u*math.Abs(want)
			bound += p.X.Epsilon()*(math.Abs(want)+bound) + 4*p.X.SmallestNormal()
			result.note(math.Abs(got-want)/bound, func() string {
				return fmt.Sprintf("o[%d, %d] is %.9g, should be %.9g within %.2g", row, col, got, want, bound)
			})
			errors.Add(got, want)
		}
	}
	for i := range out.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return result, ctx.Err()
		}
		if v := out.At(i); v-v != 0 {
			result.OK, result.ErrOverBound, result.Detail = false, math.Inf(1), fmt.Sprintf("o[%d, %d] is %v", i/p.N, i%p.N, v)
			break
		}
	}
	result.RelErr = errors.Error().Rel
	return result, nil
}

// gated is an activation in float64.
func gated(a problem.GateActivation, x float64) float64 {
	switch a {
	case problem.GateGelu:
		return x / 2 * math.Erfc(-x/math.Sqrt2)
	case problem.GateGeluTanh:
		return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return x / (1 + math.Exp(-x))
}
