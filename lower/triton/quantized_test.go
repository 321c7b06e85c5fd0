package triton_test

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// runText runs the text of programs on named inputs.
func runText(t *testing.T, programs []*tile.Program, params backend.Params, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	e, err := device{operandBytes: 32}.Compile(context.Background(), programs, params)
	if err != nil {
		t.Fatal(err)
	}
	return backendtest.Outputs(t, e, programs, in)
}

// TestQuantizedMeaning verifies the text of every quantization and variant of the
// fifth rung, on inputs that a quantizer made, with k whole and in three parts.
func TestQuantizedMeaning(t *testing.T) {
	const parts = 3
	list := append(problemtest.Quantized(1, 9, 150, 11, 32), problem.New(20, 150, 19, tile.BFloat16), problem.New(20, 150, 19, tile.Int8))
	list = append(list, problem.New(20, 150, 8, tile.BFloat16)) // one block of columns
	list = append(list, problemtest.Quantized(2, 9, 70, 33, 32)[:3]...)
	split := 0
	for i, p := range list {
		for _, variant := range problemtest.Kernel(p).Variants(p) {
			extras := []map[string]string{{"group": "1"}, {"group": "2", "split_k": "3"}}
			if parted := variant == "" && i%2 == 1; !thoroughtest.All() && parted {
				extras = extras[1:]
			} else if !thoroughtest.All() {
				extras = extras[:1]
			}
			for _, extra := range extras {
				t.Run(problemtest.Label(p)+" "+variant+" "+extra["split_k"], func(t *testing.T) {
					programs, err := problemtest.Kernel(p).Build(p, variant, tile.Blocks{M: 8, K: 64, N: 8}.Clip(p.M, p.K, p.N))
					if err != nil {
						t.Fatal(err)
					}
					params := backend.Params{Extra: extra}
					if _, err := (device{}).Compile(t.Context(), programs, params); errors.Is(err, backend.ErrUnsupported) && extra["split_k"] != "" && (variant != "" || p.K < parts*64-63) {
						t.Skip(err)
					}
					in, err := check.Inputs(t.Context(), p, programs, 5, check.Normal)
					if err != nil {
						t.Fatal(err)
					}
					res, err := check.Verify(context.Background(), p, programs, in, runText(t, programs, params, in)["o"])
					if err != nil || !res.OK {
						t.Errorf("%+v, %v", res, err)
					}
					if extra["split_k"] != "" {
						split++
					}
				})
			}
		}
	}
	if split < 10 {
		t.Errorf("%d problems in parts", split)
	}
}

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit, whatever the rows.
// Numbers are right from the smallest to the largest.
func TestCodes(t *testing.T) {
	run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		return runText(t, programs, backend.Params{}, in)
	}
	problemtest.Codes(t, false, run)
	problemtest.Numbers(t, 1, false, run)
}
