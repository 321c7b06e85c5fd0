package mosaic_test

import (
	"context"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/check"
	"matladder/lower/mosaic"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// runText runs the text of programs on named inputs.
func runText(t *testing.T, programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	return runWith(t, mosaic.Options{}, programs, in)
}

// runWith runs it as it is written with options.
func runWith(t *testing.T, options mosaic.Options, programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
	t.Helper()
	e, err := device{options}.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return backendtest.Outputs(t, e, programs, in)
}

// TestQuantizedMeaning verifies the text of every quantization and variant of the
// fifth rung, on inputs that a quantizer made.
func TestQuantizedMeaning(t *testing.T) {
	for _, p := range problemtest.Quantized(1, 9, 150, 11, 32) {
		for _, variant := range problemtest.Kernel(p).Variants(p) {
			t.Run(problemtest.Label(p)+" "+variant, func(t *testing.T) {
				programs, err := problemtest.Kernel(p).Build(p, variant, tile.Blocks{M: 8, K: 64, N: 8})
				if err != nil {
					t.Fatal(err)
				}
				in, err := check.Inputs(t.Context(), p, programs, 5, check.Normal)
				if err != nil {
					t.Fatal(err)
				}
				res, err := check.Verify(context.Background(), p, programs, in, runText(t, programs, in)["o"])
				if err != nil || !res.OK {
					t.Errorf("%+v, %v", res, err)
				}
			})
		}
	}
}

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit, whatever the rows.
// Numbers are right from the smallest to the largest.
func TestCodes(t *testing.T) {
	run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		return runText(t, programs, in)
	}
	problemtest.Codes(t, false, run)
	problemtest.Numbers(t, 1, false, run)
}
