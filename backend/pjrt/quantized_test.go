//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestCodes: quantization on the fly gives the codes and scales of package quant,
// bit for bit, but those of numbers that are not normal, which XLA takes for zero.
func TestCodes(t *testing.T) {
	be := openCPU(t, Options{})
	defer be.Close()
	problemtest.Codes(t, true, func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor {
		e, err := be.Compile(context.Background(), programs, backend.Params{})
		if errors.Is(err, backend.ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Load(in...); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		bound, err := tile.Bind(programs)
		if err != nil {
			t.Fatal(err)
		}
		out, named := make([]tile.Tensor, len(bound.Out)), map[string]tile.Tensor{}
		for i, r := range bound.Out {
			out[i] = tile.NewTensor(r.Dtype, r.Array...)
			named[r.Name] = out[i]
		}
		if err := e.Results(out...); err != nil {
			t.Fatal(err)
		}
		return named
	})
}
