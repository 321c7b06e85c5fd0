package aot

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/kernels"
	"matladder/plugins"
	"matladder/problem"
	"matladder/tile"
)

// openBackend returns a backend that keeps what libtpu says in a folder.
func openBackend(t *testing.T, topology, cache string) *Backend {
	t.Helper()
	b, err := OpenBackend(BackendOptions{Topology: topology, Cache: cache, Options: Options{Parallel: 1}})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestPredict predicts on every generation a kernel without a grid, one of eight
// steps, one of two (a step for each core of v5p), and XLA's own matmul: none beats
// the peak or the bandwidth, and none is a hundred times slower.
func TestPredict(t *testing.T) {
	const n = 256
	p := problem.New(n, n, n, tile.BFloat16)
	b := openBackend(t, "v5e", t.TempDir())
	for _, top := range Topologies() {
		if err := b.aim(top.Name); err != nil {
			t.Fatal(err)
		}
		d := b.Device()
		least := max(float64(p.FLOPs())/d.PeakAt("bfloat16", "").Value, float64(p.Bytes())/d.BandwidthBytesPerSecond.Value)
		seconds := map[string]float64{}
		for name, blocks := range map[string]tile.Blocks{
			"no grid": {M: n, K: n, N: n}, "eight steps": {M: n / 2, K: n / 2, N: n / 2}, "two steps": {M: n / 2, K: n, N: n},
		} {
			programs, err := kernels.All[4].Build(p, "", blocks)
			if err != nil {
				t.Fatal(err)
			}
			have, err := b.Predict(t.Context(), programs, backend.Params{})
			if err != nil {
				t.Errorf("%s, %s: %v", top.Name, name, err)
				continue
			}
			seconds[name] = have.Elapsed.Seconds()
			if have.Method != "aot" || !strings.HasPrefix(have.Source, "libtpu") {
				t.Errorf("%+v", have)
			}
		}
		xla, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p})
		if err != nil {
			t.Errorf("%s: %v", top.Name, err)
		}
		seconds["xla"] = xla.Elapsed.Seconds()
		for name, s := range seconds {
			if s < least || s > 100*least {
				t.Errorf("%s, %s: %.3g s, at least %.3g", top.Name, name, s, least)
			}
		}
		launch := b.device.LaunchSeconds.Value
		if top.Name == "v5p" && seconds["two steps"]-launch > 0.9*(seconds["no grid"]-launch) {
			t.Errorf("v5p: %.3g s with two cores, %.3g with one", seconds["two steps"], seconds["no grid"])
		}
	}
}

// TestPredict_Ragged: blocks that end outside of their arrays, in each dimension, are
// as many conditions as the schedule has; whole blocks take less time.
func TestPredict_Ragged(t *testing.T) {
	b := openBackend(t, "v6e", t.TempDir())
	p := problem.New(640, 640, 640, tile.BFloat16)
	seconds := map[tile.Blocks]float64{}
	whole := tile.Blocks{M: 320, K: 640, N: 640}
	for _, blocks := range []tile.Blocks{whole, {M: 512, K: 512, N: 512}, {M: 640, K: 512, N: 640}, {M: 512, K: 640, N: 640}} {
		programs, err := kernels.All[4].Build(p, "", blocks)
		if err != nil {
			t.Fatal(err)
		}
		have, err := b.Predict(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Errorf("%v: %v", blocks, err)
		}
		seconds[blocks] = have.Elapsed.Seconds()
	}
	for blocks, s := range seconds {
		if s < seconds[whole]*0.9 || s > seconds[whole]*4 {
			t.Errorf("%v: %.3g s, whole blocks %.3g", blocks, s, seconds[whole])
		}
	}
}

// TestPredictBaseline_Limit: a limit of VMEM as an option of one compilation makes of
// XLA's matmul what the flag of the process makes of it, which is not what the
// default makes of it.
func TestPredictBaseline_Limit(t *testing.T) {
	p := problem.New(2048, 2048, 2048, tile.BFloat16)
	b := openBackend(t, "v5e", t.TempDir())
	predict := func(b *Backend, bytes int64) backend.Prediction {
		t.Helper()
		got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p, Params: backend.Params{VMEMBytes: bytes}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	standard, raised := predict(b, 0), predict(b, 64<<20)
	if standard == raised {
		t.Errorf("%v whatever the limit", raised.Elapsed)
	}
	b.compiler.Close()
	b.compiler.options.Flags = "--xla_tpu_scoped_vmem_limit_kib=65536"
	b.cache.folder = ""
	if flagged := predict(b, 0); flagged != raised {
		t.Errorf("%v by the option, %v by the flag", raised.Elapsed, flagged.Elapsed)
	}
	if _, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p, Params: backend.Params{VMEMBytes: 1023}}); err == nil {
		t.Error("a limit of less than 1 KiB")
	}
}

// TestPredict_Again: what is kept gives the same prediction without a compiler, and
// a limit of VMEM is another program.
func TestPredict_Again(t *testing.T) {
	cache := t.TempDir()
	first, again := openBackend(t, "v5e", cache), openBackend(t, "v5e", cache)
	again.compiler.options.Library = "/no/such/libtpu.so" // nothing can be compiled
	p := problem.New(256, 256, 256, tile.Float32)
	programs, err := kernels.All[3].Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
	if err != nil {
		t.Fatal(err)
	}
	want, err := first.Steps(t.Context(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	have, err := again.Steps(t.Context(), programs, backend.Params{})
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%+v, %v; want %+v", have, err, want)
	}
	if _, err := again.Steps(t.Context(), programs, backend.Params{VMEMBytes: 8 << 20}); err == nil {
		t.Error("another limit of VMEM, and not compiled anew")
	}
	if s := have[0]; s.Work.CoreSteps != 8 || s.Work.Cycles < 100 || s.Time.Steps != 8 {
		t.Errorf("%+v", s)
	}
}

// TestPredict_Failures: each is what a sweep makes a row of.
func TestPredict_Failures(t *testing.T) {
	b := openBackend(t, "v4", t.TempDir())
	build := func(d tile.Dtype, n int) []*tile.Program {
		programs, err := kernels.All[0].Build(problem.New(n, n, n, d), "", tile.Blocks{M: n, K: n, N: n})
		if err != nil {
			t.Fatal(err)
		}
		return programs
	}
	var big *backend.TooBigError
	if _, err := b.Predict(t.Context(), build(tile.Float32, 2048), backend.Params{}); !errors.As(err, &big) {
		t.Errorf("too big: %v", err)
	}
	if _, err := b.Predict(t.Context(), build(tile.Int8, 128), backend.Params{}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("int8 on v4: %v", err)
	}
	if _, err := backend.Compile(t.Context(), b, nil, backend.Params{}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("to run: %v", err)
	}
	b.compiler.options.Limit = time.Millisecond
	if _, err := b.Predict(t.Context(), build(tile.Float32, 128), backend.Params{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past the limit: %v", err)
	}
	b.compiler.options.Limit, b.compiler.options.Flags = time.Minute, "--xla_no_such_flag=1"
	var crash *backend.CrashError
	if _, err := b.Predict(t.Context(), build(tile.Float32, 128), backend.Params{}); !errors.As(err, &crash) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a crash: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Predict(gone, build(tile.Float32, 128), backend.Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestOpenBackend: what is missing is told in one line.
func TestOpenBackend(t *testing.T) {
	t.Setenv(plugins.FolderVariable, t.TempDir())
	want := "go run ./cmd/plugin install tpu"
	if !supported {
		want = ErrNoCompiler.Error()
	}
	if _, err := OpenBackend(BackendOptions{Topology: "v5e"}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := OpenBackend(BackendOptions{Topology: "v99"}); err == nil || !strings.Contains(err.Error(), "v7x") {
		t.Errorf("no such generation: %v", err)
	}
}
