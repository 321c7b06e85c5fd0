package check

import (
	"math"
	"testing"

	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestTails: where an activation is small its digits count: a tail of 0, as 1 + erf(x/√2) or
// 1 + tanh leaves one, is wrong, and so is one that is 1/100 off.
func TestTails(t *testing.T) {
	const m = 12
	column := func(at func(i int) float64) tile.Tensor {
		x := tile.NewTensor(tile.Float32, m, 1)
		for i := range m {
			x.Set(i, at(i))
		}
		return x
	}
	one := tile.NewTensor(tile.Float32, 1, 1)
	one.Set(0, 1)
	for _, c := range []struct {
		p  problem.Problem
		in map[string]tile.Tensor
		x  string
		f  func(x float64) float64
	}{
		{problemtest.New(1, m, 1, 1, tile.Float32, tile.Float32, tile.Float32, "", "gelu"), map[string]tile.Tensor{"b": one}, "a",
			func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }},
		{problemtest.New(1, m, 1, 1, tile.Float32, tile.Float32, tile.BFloat16, "", "silu"), map[string]tile.Tensor{"b": one}, "a",
			func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
		{problem.MLP{Rows: m, K: 1, N: 1, X: tile.Float32, W: tile.Float32, Activation: problem.GateGeluTanh}, map[string]tile.Tensor{"gate": one, "up": one}, "x",
			func(x float64) float64 { return x * x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) }},
	} {
		at := func(i int) float64 { return -3 - float64(i)/8 }
		c.in[c.x] = column(at)
		ref, err := ReferenceOf(t.Context(), c.p, c.in, 1, Uniform)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			for by, right := range map[float64]bool{1: true, 0: false, 0.99: false, 1.01: false} {
				o := column(func(j int) float64 { return c.f(at(j)) })
				o.Set(i, by*o.At(i))
				if p, ok := c.p.(problem.Matmul); ok && p.Out == tile.BFloat16 {
					wide := o
					o = tile.NewTensor(p.Out, m, 1)
					for j := range m {
						o.Set(j, wide.At(j))
					}
				}
				if r, err := ref.Verify(t.Context(), nil, c.in, map[string]tile.Tensor{"o": o}); err != nil || r.OK != right {
					t.Fatalf("%v of %v times %v: %+v, %v", c.p, at(i), by, r, err)
				}
			}
		}
	}
}
