//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestConformance compares what tile programs mean as StableHLO, run by XLA,
// with package interp.
func TestConformance(t *testing.T) {
	backendtest.Run(t, func() Backend { return openCPU(t, Options{}) }, backendtest.Options{
		Seeded: true, OneIn: thoroughtest.OneIn(11, 61, 61), FamiliesOneIn: thoroughtest.OneIn(1, 13, 13),
		// PJRT has packed int4 buffers, which go-xla does not make.
		MayRefuseQuantized: func(p problem.Matmul) bool { return p.A.Bits() == 4 || p.B.Bits() == 4 },
	})
}

// baseline compiles and loads XLA's own matmul.
func baseline(t testing.TB, be backend.Solver, spec backend.InputSpec, params backend.Params) backend.Seeded {
	t.Helper()
	made, err := be.Solve(context.Background(), backend.ProblemSpec{Problem: spec.Problem, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	e := seeded.Of(made, nil, new(seeded.References))
	t.Cleanup(func() { e.Close() })
	if err := e.LoadSeeded(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	return e
}

// byMethod asks for a method of timing.
func byMethod(m string) backend.Params {
	return backend.Params{Extra: map[string]string{methodParam: m}}
}

// TestBaseline verifies XLA's own matmul after loops, chains and single launches.
func TestBaseline(t *testing.T) {
	be := openCPU(t, Options{})
	defer be.Close()
	var problems []problem.Matmul
	for _, s := range [][3]int{{1, 1, 1}, {67, 129, 83}, {128, 256, 512}} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			problems = append(problems, problem.New(s[0], s[1], s[2], d))
		}
		scaled, wide, highest := problem.New(s[0], s[1], s[2], tile.Int8), problem.New(s[0], s[1], s[2], tile.BFloat16), problem.New(s[0], s[1], s[2], tile.Float32)
		scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
		wide.Out = tile.Float32
		highest.Precision = tile.Highest
		turned, gelu := highest, wide
		turned.TransB, gelu.Activation = true, problem.Gelu
		problems = append(problems, scaled, wide, highest, turned, gelu)
	}
	for _, p := range problems {
		for _, method := range methods {
			if method == Chain && p.M == 67 {
				continue // two shapes are enough
			}
			t.Run(fmt.Sprintf("%v%s%v%v/%s", p, p.Quant, p.Precision, p.Activation, method), func(t *testing.T) {
				spec := backend.InputSpec{Problem: p, Seed: 5, Dist: check.Uniform}
				e := baseline(t, be, spec, byMethod(method))
				for _, launches := range []int{1, 3, 2} {
					s, err := e.Run(context.Background(), launches)
					if err != nil || s.Method != method || s.Elapsed <= 0 {
						t.Fatalf("Run: %+v, %v", s, err)
					}
					if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
						t.Fatalf("Check after %d launches: %+v, %v", launches, r, err)
					}
				}
				if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec, Fault: check.FaultZeros}); err != nil || r.OK {
					t.Errorf("zeros were not found: %+v, %v", r, err)
				}
				if spec.Dist = check.Exact; !check.HasExact(p) {
					return
				}
				if err := e.LoadSeeded(t.Context(), spec); err != nil {
					t.Fatal(err)
				}
				if _, err := e.Run(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
					t.Errorf("exact probe: %+v, %v", r, err)
				}
			})
		}
	}
}

// TestOpen_Refuses opens what is no plugin, or not there.
func TestOpen_Refuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "plugin.so")
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	real := cpuPlugin(t)
	libc := loaded(t, "libc.so")
	for _, test := range []struct {
		o    Options
		says string
	}{
		{Options{}, "no plugin given"},
		{Options{Plugin: "plugin.so"}, "not an absolute path"},
		{Options{Plugin: dir}, "not a file"},
		{Options{Plugin: filepath.Join(dir, "missing.so")}, "no such file"},
		{Options{Plugin: text}, "is no plugin for this machine"},
		{Options{Plugin: libc}, "is no plugin for this machine"},
		{Options{Plugin: real, Device: 99}, "no device 99"},
		{Options{Plugin: real, Device: -1}, "devices count from 0"},
		{Options{Plugin: real, Threads: -1}, "threads = -1"},
		{Options{Plugin: real, Method: "guess"}, "known: loop, chain, wall"},
	} {
		be, err := Open(test.o)
		if err == nil {
			be.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
}

// loaded is the path of a library that this process has.
func loaded(t *testing.T, name string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.Contains(line[i:], "/"+name) {
			return strings.TrimSpace(line[i:])
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

// TestParams asks for what XLA does not let be chosen.
func TestParams(t *testing.T) {
	be := openCPU(t, Options{Host: machine.Device{Key: "small", MemoryBytes: machine.Figure{Value: 1 << 20}}})
	defer be.Close()
	if be.Device().Key != "small" {
		t.Errorf("the device is %q", be.Device().Key)
	}
	p := problem.New(8, 8, 8, tile.Float32)
	for _, params := range []backend.Params{{ISA: "avx2"}, {Threads: 77}, {VMEMBytes: 1}, {Extra: map[string]string{operandsParam: OperandsHBM}}} {
		if _, err := be.Solve(context.Background(), backend.ProblemSpec{Problem: p, Params: params}); !errors.Is(err, backend.ErrUnsupported) {
			t.Errorf("%+v: %v", params, err)
		}
	}
	if _, err := be.Solve(context.Background(), backend.ProblemSpec{Problem: p, Params: backend.Params{Extra: map[string]string{"speed": "11"}}}); err == nil {
		t.Error("an unknown parameter is accepted")
	}
	var big *backend.TooBigError
	if _, err := be.Solve(context.Background(), backend.ProblemSpec{Problem: problem.New(1024, 1024, 1024, tile.Float32)}); !errors.As(err, &big) || big.Needed != 12<<20 || big.Limit != 1<<20 {
		t.Errorf("12 MiB on a device of 1 MiB: %v", err)
	}
}
