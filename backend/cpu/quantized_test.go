package cpu

import (
	"context"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu/internal/gemm"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit, on every instruction set.
// Numbers are right from the smallest to the largest.
func TestCodes(t *testing.T) {
	for _, isa := range []gemm.ISA{gemm.Generic, gemm.Detect()} {
		t.Run(isa.String(), func(t *testing.T) {
			be := open(t, Options{Threads: 2, ISA: isa.String()})()
			defer be.Close()
			run := func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
				e, err := be.Compile(context.Background(), programs, backend.Params{})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				return backendtest.Outputs(t, e, programs, in)
			}
			problemtest.Codes(t, false, run)
			problemtest.Numbers(t, 0, false, run)
		})
	}
}
