//go:build linux && cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/check"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// apart opens the CPU plugin as if its memory were not the host's: arrays are
// transferred, as to any other device.
func apart(t *testing.T) *pjrtBackend {
	t.Helper()
	be := openCPU(t, Options{}).(*pjrtBackend)
	be.shared = false
	return be
}

// TestTransfers takes arrays to and from a device whose memory is not the host's:
// what comes back must be what the host's memory holds.
func TestTransfers(t *testing.T) {
	here, there := openCPU(t, Options{}), apart(t)
	defer here.Close()
	defer there.Close()
	p := problem.New(48, 40, 56, tile.BFloat16)
	programs := rung(t, 5, p)
	in, err := check.Inputs(t.Context(), p, programs, 7, check.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	var results []tile.Tensor
	for _, be := range []Backend{here, there} {
		e, err := be.Compile(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		o := tile.NewTensor(p.Out, p.M, p.N)
		if err := e.Load(in...); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		if err := e.Results(o); err != nil {
			t.Fatal(err)
		}
		results = append(results, o)
	}
	if !bytes.Equal(results[0].Data, results[1].Data) {
		t.Error("the results of one program on the same inputs differ")
	}
	if r, err := check.Verify(t.Context(), p, programs, in, results[1]); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPretendTPU takes XLA's matmul all the way that a TPU takes it, on the CPU
// plugin: options of the compiler, which this one does not have, transfers, each
// method, where the operands are, and the check. Kernels end at the compiler.
func TestPretendTPU(t *testing.T) {
	be := apart(t)
	defer be.Close()
	be.device = chip(t, "TPU v5 lite")
	p := problem.New(96, 64, 128, tile.BFloat16)
	spec := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
	for _, method := range methods {
		e := baseline(t, be, spec, byMethod(method))
		for _, launches := range []int{1, 5} {
			s, err := e.Run(context.Background(), launches)
			if err != nil || s.Operands != "hbm" || s.Method != method {
				t.Fatalf("%s: %+v, %v", method, s, err)
			}
			if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
				t.Errorf("%s: %+v, %v", method, r, err)
			}
		}
	}
	_, err := be.Compile(context.Background(), rung(t, 5, p), backend.Params{})
	if err == nil || !strings.Contains(err.Error(), "compile v5_quant") || !strings.Contains(err.Error(), "tpu_custom_call") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a kernel of a TPU on a CPU: %v", err)
	}
	var big *backend.TooBigError
	if _, err := be.Compile(context.Background(), rung(t, 1, problem.New(4096, 4096, 4096, tile.Float32)), backend.Params{}); !errors.As(err, &big) || big.What != "VMEM" {
		t.Errorf("a kernel that no VMEM holds: %v", err)
	}
}

// TestSharded_TooFew asks for a mesh of more devices than there are.
func TestSharded_TooFew(t *testing.T) {
	be := openCPU(t, Options{}).(*pjrtBackend)
	defer be.Close()
	launch, err := stablehlo.Baseline(problem.New(8, 8, 8, tile.Float32))
	if err != nil {
		t.Fatal(err)
	}
	_, err = be.client.Compile().WithStableHLO([]byte(launch.Once())).WithShardy(be.client.NumDevices() + 1).Done()
	if err = wrap("a mesh", err); err == nil || !strings.Contains(err.Error(), "No matching device") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
