package stablehlo_test

import (
	"context"
	"errors"
	"testing"

	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// runText runs the text of programs in the machine of these tests.
func runText(t *testing.T, l *stablehlo.Launch, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	var args []tensor
	for _, x := range in {
		args = append(args, fromTile(x))
	}
	got, err := newMachine(l.Once()).main(args)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]tile.Tensor{}
	for i, a := range l.Out {
		out := tile.NewTensor(a.Dtype, a.Shape...)
		for e := range out.Len() {
			out.Set(e, meant(out.Dtype, got[i].v[e]))
		}
		named[a.Name] = out
	}
	return named
}

// TestQuantized_Meaning verifies every quantization and variant of the fifth
// rung, on inputs that a quantizer made.
func TestQuantized_Meaning(t *testing.T) {
	run := thoroughtest.Choose(1, 5, 5)
	for _, batch := range []int{1, 2} {
		for _, p := range problemtest.Quantized(batch, 9, 80, 11, 32) {
			for _, variant := range problemtest.Kernel(p).Variants(p) {
				if batch > 1 && !run() {
					continue
				}
				t.Run(problemtest.Label(p)+" "+variant, func(t *testing.T) {
					programs, err := problemtest.Kernel(p).Build(p, variant, tile.Blocks{M: 8, K: 64, N: 8})
					if err != nil {
						t.Fatal(err)
					}
					in, err := check.Inputs(t.Context(), p, programs, 5, check.Normal)
					if err != nil {
						t.Fatal(err)
					}
					l, err := stablehlo.Interpret(programs)
					if err != nil {
						t.Fatal(err)
					}
					res, err := check.Verify(context.Background(), p, programs, in, runText(t, l, in)["o"])
					if err != nil || !res.OK {
						t.Errorf("%+v, %v", res, err)
					}
				})
			}
		}
	}
}

// TestBaseline_Quantized verifies the baseline of every quantization that has one.
func TestBaseline_Quantized(t *testing.T) {
	refused := 0
	problems := append(problemtest.Quantized(1, 9, 128, 11, 32), problemtest.Quantized(2, 9, 60, 11, 32)...)
	for _, p := range problems {
		t.Run(problemtest.Label(p), func(t *testing.T) {
			l, err := stablehlo.Baseline(p)
			var unsupported *stablehlo.UnsupportedError
			if errors.As(err, &unsupported) {
				refused++
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			named := map[string]tile.Tensor{}
			var in []tile.Tensor
			for _, a := range l.In {
				x := tile.NewTensor(a.Dtype, a.Shape...)
				if err := check.Fill(t.Context(), x, a.Name, p, 5, check.Normal); err != nil {
					t.Fatal(err)
				}
				named[a.Name], in = x, append(in, x)
			}
			ref, err := check.NewReference(context.Background(), p, named)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ref.Verify(context.Background(), nil, named, runText(t, l, in))
			if err != nil || !res.OK {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	if refused > len(problems)/2 {
		t.Errorf("%d of %d refused", refused, len(problems))
	}
}

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit.
// Numbers are right from the smallest to the largest.
func TestCodes(t *testing.T) {
	run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		l, err := stablehlo.Interpret(programs)
		if err != nil {
			t.Fatal(err)
		}
		return runText(t, l, in)
	}
	problemtest.Codes(t, false, run)
	problemtest.Numbers(t, 4, false, run)
}

// TestBaseline_Scales: the baseline's scales may have every size, as a kernel's.
func TestBaseline_Scales(t *testing.T) {
	problemtest.Scales(t, func(t *testing.T, p problem.Matmul, in map[string]tile.Tensor) tile.Tensor {
		l, err := stablehlo.Baseline(p)
		if err != nil {
			t.Fatal(err)
		}
		var args []tile.Tensor
		for _, a := range l.In {
			args = append(args, in[a.Name])
		}
		return runText(t, l, args)["o"]
	})
}

// TestBaseline_Activations: the baseline's are of every number, as a kernel's.
func TestBaseline_Activations(t *testing.T) {
	grid := problemtest.Grid()
	flat := tile.Tensor{Dtype: grid.Dtype, Shape: []int{grid.Len(), 1}, Data: grid.Data}
	one, pick := tile.NewTensor(tile.Float32, 1, 1), func(row float64) tile.Tensor {
		x := tile.NewTensor(tile.Float32, 2, 1)
		x.Set(0, row)
		x.Set(1, 1-row)
		return x
	}
	one.Set(0, 1)
	beside := tile.NewTensor(tile.Float32, flat.Len(), 2) // each number and 1; none of 0 · Inf
	for i := range flat.Len() {
		if x := flat.At(i); x-x == 0 {
			beside.Set(2*i, x)
		}
		beside.Set(2*i+1, 1)
	}
	finite := tile.NewTensor(tile.Float32, flat.Len(), 1)
	for i := range finite.Len() {
		finite.Set(i, beside.At(2*i))
	}
	run := func(name string, p problem.Problem, x tile.Tensor, in ...tile.Tensor) {
		t.Run(name, func(t *testing.T) {
			l, err := stablehlo.Baseline(p)
			if err != nil {
				t.Fatal(err)
			}
			problemtest.Near(t, name, 4, false, x, runText(t, l, in)["o"])
		})
	}
	for _, a := range []problem.Epilogue{"relu", "gelu", "silu"} {
		run(string(a), problemtest.New(1, flat.Len(), 1, 1, tile.Float32, tile.Float32, tile.Float32, "", a), flat, flat, one)
	}
	for _, a := range []problem.GateActivation{problem.GateSilu, problem.GateGelu, problem.GateGeluTanh} {
		p := problem.MLP{Rows: flat.Len(), K: 2, N: 1, X: tile.Float32, W: tile.Float32, Activation: a}
		run(string(a), p, finite, beside, pick(1), pick(0))
	}
}
