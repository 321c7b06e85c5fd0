//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit, but those of numbers that are not normal, which XLA takes for zero.
// Numbers are right from the smallest to the largest.
func TestCodes(t *testing.T) {
	be := openCPU(t, Options{})
	defer be.Close()
	run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		e, err := be.Compile(context.Background(), programs, backend.Params{})
		if errors.Is(err, backend.ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		return backendtest.Outputs(t, e, programs, in)
	}
	problemtest.Codes(t, true, run)
	problemtest.Numbers(t, 4, true, run)
}
