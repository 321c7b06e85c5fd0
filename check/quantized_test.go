package check

import (
	"context"
	"math"
	"testing"

	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/problem/quant"
	"matladder/problem/quant/quanttest"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestVerify_Quantized runs every scheme of the fifth rung in interp on blocks
// that overhang, and compares with float64; then the outputs damaged.
func TestVerify_Quantized(t *testing.T) {
	ctx := context.Background()
	for _, size := range []struct{ m, k, n, batch, bm, bk, bn int }{
		{9, 150, 11, 1, 8, 64, 8}, {5, 70, 7, 3, 4, 128, 8}, {1, 1, 1, 1, 1, 1, 1},
	} {
		for _, p := range problemtest.Quantized(size.batch, size.m, size.k, size.n, 32) {
			if err := p.Validate(); err != nil {
				t.Fatal(problemtest.Label(p), err)
			}
			for _, variant := range problemtest.Kernel(p).Variants(p) {
				for _, dist := range Distributions() {
					programs, err := problemtest.Kernel(p).Build(p, variant, tile.Blocks{M: size.bm, K: size.bk, N: size.bn}.Clip(p.M, p.K, p.N))
					if err != nil {
						t.Fatal(problemtest.Label(p), variant, err)
					}
					in, err := Inputs(t.Context(), p, programs, 7, dist)
					if err != nil {
						t.Fatal(problemtest.Label(p), variant, err)
					}
					out, err := interp.Run(ctx, programs, in)
					if err != nil {
						t.Fatal(problemtest.Label(p), variant, err)
					}
					res := verifySeeded(t, p, programs, in, out[0], 7, dist)
					if !res.OK || res.ErrOverBound > 1 {
						t.Errorf("%s %s %s: %+v", problemtest.Label(p), variant, dist, res)
					}
					if res.Quantized != fromFloats(dist) || res.Quantized && p.K > 1 && !(res.QuantRelErr > 1e-4 && res.QuantRelErr < 0.5) {
						t.Errorf("%s %s %s: %+v", problemtest.Label(p), variant, dist, res)
					}
					scheme, _ := p.Scheme()
					if scheme.Dynamic && !fromFloats(dist) {
						continue // small integers are in the middle between codes all the time
					}
					for _, fault := range Faults() {
						bad := tile.NewTensor(out[0].Dtype, out[0].Shape...)
						copy(bad.Data, out[0].Data)
						if err := Inject(fault, bad); err != nil {
							t.Fatal(err)
						}
						if sameValues(bad, out[0]) {
							continue // 1×1 has no wrong tile, and -0 is 0
						}
						if res := verifySeeded(t, p, programs, in, bad, 7, dist); res.OK || !(res.ErrOverBound > 1) || res.Detail == "" {
							t.Errorf("%s %s %s: fault %s: %+v", problemtest.Label(p), variant, dist, fault, res)
						}
					}
				}
			}
		}
	}
}

func sameValues(x, y tile.Tensor) bool {
	for i := range x.Len() {
		if x.At(i) != y.At(i) {
			return false
		}
	}
	return true
}

func verifySeeded(t *testing.T, p problem.Matmul, programs []*tile.Program, in []tile.Tensor, out tile.Tensor, seed uint64, dist string) Result {
	t.Helper()
	ctx := context.Background()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]tile.Tensor{}
	for i, r := range bound.In {
		named[r.Name] = in[i]
	}
	ref, err := NewReference(ctx, p, named)
	if err != nil {
		t.Fatal(problemtest.Label(p), err)
	}
	if err := ref.Unquantized(ctx, named, seed, dist); err != nil {
		t.Fatal(err)
	}
	ref.isConstant(dist)
	res, err := ref.Verify(ctx, programs, named, map[string]tile.Tensor{"o": out})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestFill_Quantized compares the arrays of a seed with package quant on the
// floats of the same seed.
func TestFill_Quantized(t *testing.T) {
	const m, k, n = 70, 130, 90
	for _, p := range problemtest.Quantized(1, m, k, n, 32) {
		scheme, err := p.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []codes{operandCodes("a", p, scheme), operandCodes("b", p, scheme)} {
			if c.Grain == problem.NoGrain || c.name == "a" && scheme.Dynamic {
				continue
			}
			plain := tile.NewTensor(tile.Float32, c.rows, c.cols)
			if err := Fill(t.Context(), plain, c.name, problem.New(m, k, n, tile.Float32), 3, Normal); err != nil {
				t.Fatal(err)
			}
			if c.Scales == tile.Float8E4M3FN {
				most := 0.0
				for _, x := range plain.Floats() {
					most = max(most, math.Abs(x))
				}
				c.All = quant.ScaleOfAll(float32(most), c.dtype)
			}
			want, err := quanttest.Quantize(plain, c.dtype, c.Grouping)
			if err != nil {
				t.Fatal(err)
			}
			for name, w := range map[string]tile.Tensor{c.name: want.Codes, "s" + c.name: want.Scales, "z" + c.name: want.Zeros} {
				if w.Data == nil {
					continue
				}
				got := tile.NewTensor(w.Dtype, w.Shape...)
				if err := Fill(t.Context(), got, name, p, 3, Normal); err != nil {
					t.Fatal(err)
				}
				if string(got.Data) != string(w.Data) {
					t.Errorf("%s: %s is not what package quant makes of the floats", problemtest.Label(p), name)
				}
			}
		}
	}
}

// TestBell looks at the distribution of the floats of Normal.
func TestBell(t *testing.T) {
	var sum, square float64
	const n = 1 << 16
	for i := range n {
		x := float64(bell(mix(uint64(i))))
		sum, square = sum+x, square+x*x
	}
	if mean, variance := sum/n, square/n; math.Abs(mean) > 0.02 || math.Abs(variance-1) > 0.02 {
		t.Errorf("mean %v, variance %v", mean, variance)
	}
}
