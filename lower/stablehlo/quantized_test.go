package stablehlo_test

import (
	"context"
	"errors"
	"testing"

	"matladder/check"
	quantized "matladder/kernels/v5_quant"
	"matladder/lower/stablehlo"
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
			out.Set(e, got[i].v[e])
		}
		named[a.Name] = out
	}
	return named
}

// TestQuantized_Meaning verifies every quantization and variant of the fifth
// rung, on inputs that a quantizer made.
func TestQuantized_Meaning(t *testing.T) {
	for _, batch := range []int{1, 2} {
		for _, p := range problemtest.Quantized(batch, 9, 80, 11, 32) {
			for _, variant := range quantized.Kernel.Variants(p) {
				t.Run(problemtest.Label(p)+" "+variant, func(t *testing.T) {
					programs, err := quantized.Kernel.Build(p, variant, tile.Blocks{M: 8, K: 64, N: 8})
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
func TestCodes(t *testing.T) {
	problemtest.Codes(t, false, func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		l, err := stablehlo.Interpret(programs)
		if err != nil {
			t.Fatal(err)
		}
		return runText(t, l, in)
	})
}
