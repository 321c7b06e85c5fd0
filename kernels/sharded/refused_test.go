package sharded_test

import (
	"errors"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/kernels/sharded"
	"matladder/lower/stablehlo"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/tile"
)

// TestRefused: who cannot copy, or is one device alone, says so in an error of its type.
func TestRefused(t *testing.T) {
	one := problem.Sharded{M: 32, K: 32, N: 32, Devices: 1, Dtype: tile.Float32, Way: problem.Gather}
	two := one
	two.Devices = 2
	for _, c := range []struct {
		k problem.Rung[problem.Sharded]
		p problem.Sharded
	}{{sharded.All[0], one}, {sharded.All[2], two}} {
		programs, err := c.k.Build(c.p, "", tile.Blocks{M: 8, K: 8, N: 8})
		if err != nil {
			t.Fatal(err)
		}
		var gpu *triton.UnsupportedError
		if _, err := triton.Lower(programs, triton.Options{}); !errors.As(err, &gpu) {
			t.Errorf("%s: triton: %v", c.k.Name, err)
		}
		var xla *stablehlo.UnsupportedError
		if _, err := stablehlo.Interpret(programs); !errors.As(err, &xla) {
			t.Errorf("%s: stablehlo: %v", c.k.Name, err)
		}
		device, err := cpu.Open(cpu.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer device.Close()
		_, err = device.Compile(t.Context(), programs, backend.Params{})
		if alone := c.p.Devices == 1; errors.Is(err, backend.ErrUnsupported) == alone || alone && err != nil {
			t.Errorf("%s: cpu: %v", c.k.Name, err)
		}
	}
}
