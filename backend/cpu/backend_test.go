package cpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	optblock "matladder/kernels/v4_optblock"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name, env string
		options   Options
		want      string // instruction set; or part of the error
		wrong     bool
	}{
		{"best", "", Options{}, gemm.Detect().String(), false},
		{"environment", "generic", Options{}, "generic", false},
		{"option before environment", "nonsense", Options{ISA: "generic"}, "generic", false},
		{"unknown environment", "sse9", Options{}, `MATLADDER_CPU=sse9: cpu: unknown instruction set "sse9"`, true},
		{"unknown option", "", Options{ISA: "sse9"}, `unknown instruction set "sse9"`, true},
		{"negative threads", "", Options{Threads: -1}, "threads = -1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(ISAVariable, c.env)
			be, err := Open(c.options)
			switch {
			case c.wrong && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q in it", err, c.want)
			case !c.wrong && err != nil:
				t.Error(err)
			case !c.wrong && be.ISA() != c.want:
				t.Errorf("instruction set %s, want %s", be.ISA(), c.want)
			}
		})
	}
}

func TestCompile_Params(t *testing.T) {
	be := open(t, Options{Threads: 1})()
	programs, err := optblock.Kernel.Build(problem.New(8, 8, 8, tile.Float32), "", tile.Blocks{M: 8, K: 8, N: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		params backend.Params
		want   string
	}{
		{backend.Params{Threads: -2}, "threads = -2"},
		{backend.Params{ISA: "sse9"}, "sse9"},
		{backend.Params{VMEMBytes: 1}, "vmem_limit"},
		{backend.Params{Extra: map[string]string{"num_warps": "4"}}, "num_warps=4"},
	} {
		if _, err := be.Compile(context.Background(), programs, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q in it", c.params, err, c.want)
		}
	}
	if _, err := be.Compile(context.Background(), nil, backend.Params{}); err == nil {
		t.Error("Compile of no programs: no error")
	}
	if _, err := backend.Solve(context.Background(), be, backend.ProblemSpec{}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("Solve: %v", err)
	}
}

// TestDevice needs no measurement.
func TestDevice(t *testing.T) {
	t.Setenv(ISAVariable, "")
	d := open(t, Options{Threads: 2})().Device()
	if isa := gemm.Detect().String(); !strings.HasPrefix(d.Note, isa) || !strings.HasSuffix(d.Note, ", 2 threads") {
		t.Errorf("note %q", d.Note)
	}
	if d.Kind != "cpu" || d.Parallel != 2 || !strings.HasPrefix(d.Key, "cpu_") || len(d.Names) == 0 || len(d.Peak) != 0 {
		t.Errorf("%+v", d)
	}
}

// TestProbe: figures that were measured while others had the machine rise, there and
// in the file; none falls.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	b, err := Open(Options{Threads: 1, brief: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const low, high = 1, 1e14
	m := b.unmeasured()
	m.Peak, m.Bandwidth = map[string]float64{"float32": low, "int8": high}, low
	m.Cores = someCores()
	m.write(m.file())
	before, after := b.Device(), b.Probe(t.Context())
	if before.Peak["float32"].Value != low || before.BandwidthBytesPerSecond.Value != low {
		t.Fatalf("the file is not read: %+v", before)
	}
	if after.Peak["float32"].Value < 1e8 || after.BandwidthBytesPerSecond.Value < 1e7 || after.Peak["int8"].Value != high {
		t.Errorf("after a probe: %+v", after)
	}
	kept, ok := readMeasurements(m.file(), m)
	if !ok {
		t.Fatal("the file is not read after a probe")
	}
	kept.ControlCompute, kept.ControlMemory = 1e-12, 1e-12 // or the machine may be faster by now, and measure anew
	kept.write(m.file())
	again, err := Open(Options{Threads: 1, brief: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for name, d := range map[string]machine.Device{"the same": b.Device(), "another, from the file": again.Device()} {
		if diff := cmp.Diff(after, d); diff != "" {
			t.Errorf("%s, later:\n%s", name, diff)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if diff := cmp.Diff(after, b.Probe(ended)); diff != "" {
		t.Errorf("after a probe that was cancelled:\n%s", diff)
	}
}

// TestMeasurements: only a file that is whole and of the same machine is read.
func TestMeasurements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "m.json")
	key := measurements{CPU: "A, \"B\"", ISA: "avx2", Threads: 2}
	if _, ok := readMeasurements(file, key); ok {
		t.Error("a missing file was read")
	}
	m := key
	m.Peak, m.Bandwidth, m.Cores = map[string]float64{"float32": 2e11}, 3e10, someCores()
	m.write(file)
	if got, ok := readMeasurements(file, key); !ok || got.Peak["float32"] != 2e11 || got.Bandwidth != 3e10 || !cmp.Equal(got.Cores, m.Cores) {
		t.Errorf("read back %+v, %v", got, ok)
	}
	for _, other := range []measurements{{CPU: "C", ISA: "avx2", Threads: 2}, {CPU: key.CPU, ISA: "generic", Threads: 2}, {CPU: key.CPU, ISA: "avx2", Threads: 3}} {
		if _, ok := readMeasurements(file, other); ok {
			t.Errorf("read for %+v", other)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "{", string(whole[:len(whole)/2]), "null", fmt.Sprintf(`{"Version":%d}`, measurementsVersion),
		strings.Replace(string(whole), "200000000000", "-1", 1), strings.Replace(string(whole), "200000000000", "1e300", 1), strings.Replace(string(whole), "30000000000", "1e15", 1),
		strings.Replace(string(whole), fmt.Sprintf(`"Version": %d`, measurementsVersion), `"Version": 0`, 1)} {
		if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		if m, ok := readMeasurements(file, key); ok {
			t.Errorf("%q was read: %+v", broken, m)
		}
	}
	key.write(filepath.Join(file, "below", "a file")) // cannot be: no error, no panic
}

// someCores are figures as a machine may give them of itself.
func someCores() *machine.Cores {
	c := &machine.Cores{
		L2: 1 << 20, L3: 1 << 25, Shared: 1e11, Memory: 4e10, Launch: 1e-6, Pair: 1e-6, Task: 2e-7,
		CoreToCore: machine.CoreToCore{Line: 1e-7, ReadOthers: 1e10, WriteOthers: 1e10}, Rates: map[tile.Dtype]machine.ProductRate{},
	}
	for _, d := range measuredDtypes {
		c.Rates[d] = machine.ProductRate{Rows: 12, Columns: 32, Depth: 1, FLOPs: 2e11, Fetch: 2e10, PackA: 6e10, PackB: 6e10}
	}
	return c
}
