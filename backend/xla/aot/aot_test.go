package aot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// open returns a compiler, or skips the test: libtpu is a large download. A test
// that MATLADDER_REQUIRE names fails instead.
func open(t *testing.T, o Options) *Compiler {
	t.Helper()
	c, err := Open(o)
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// cases are the problems of each dtype, and a ragged one.
func cases() map[string]problem.Matmul {
	const m, k, n = 512, 384, 768
	all := map[string]problem.Matmul{
		"float32":  problem.New(m, k, n, tile.Float32),
		"bfloat16": problem.New(m, k, n, tile.BFloat16),
		"int8":     problem.New(m, k, n, tile.Int8),
		"ragged":   problem.New(m-12, k-84, n+10, tile.BFloat16),
		"ragged8":  problem.New(m-12, k-84, n+10, tile.Int8),
	}
	scaled := problem.New(m, k, n, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	all["scaled"] = scaled
	highest := problem.New(m, k, n, tile.Float32)
	highest.Precision = tile.Highest
	all["highest"] = highest
	return all
}

func build(t *testing.T, kernel kernels.Kernel, p problem.Matmul) []*tile.Program {
	t.Helper()
	programs, err := kernel.Build(p, "", kernel.Candidates(p, problem.Machine{Parallel: 2})[0])
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// TestKernels compiles every rung in every dtype: for one generation all, for the
// others the last rung.
func TestKernels(t *testing.T) {
	c, run := open(t, Options{}), thoroughtest.Choose(1, 5, 5)
	all := cases()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
			if kernel.Supports(p) != nil || kernel.Number() == 2 && strings.HasPrefix(name, "ragged") {
				continue
			}
			for _, top := range Topologies() {
				if top.Name != "v5e" && kernel.Number() != 5 && !thoroughtest.Full() || !run() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", kernel.Name(), name, top.Name), func(t *testing.T) {
					got, err := c.CompileKernels(t.Context(), top.Name, build(t, kernel, p), backend.Params{})
					if p.A == tile.Int8 && top.Name == "v4" {
						if !errors.Is(err, backend.ErrUnsupported) {
							t.Errorf("%v, want unsupported", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if got.CodeBytes == 0 || got.ArgumentBytes < p.A.Bytes(int64(p.M*p.K)) || got.OutputBytes < p.Out.Bytes(int64(p.M*p.N)) {
						t.Errorf("%+v", got)
					}
				})
			}
		}
	}
}

// TestVMEM compares what lower/mosaic counts with what libtpu says it needs, of
// kernels that are given one byte in sixteen too little.
func TestVMEM(t *testing.T) {
	c := open(t, Options{})
	for _, test := range []struct {
		kernel string
		d      tile.Dtype
		blocks tile.Blocks
	}{
		{"v2_parallel", tile.Float32, tile.Blocks{M: 1024, K: 1024, N: 512}},
		{"v4_optblock", tile.Float32, tile.Blocks{M: 512, K: 512, N: 512}},
		{"v4_optblock", tile.BFloat16, tile.Blocks{M: 512, K: 1024, N: 512}},
		{"v5_quant", tile.BFloat16, tile.Blocks{M: 512, K: 1024, N: 1024}},
		{"v5_quant", tile.Int8, tile.Blocks{M: 1024, K: 512, N: 512}},
		{"v5_quant", tile.BFloat16, tile.Blocks{M: 256, K: 2048, N: 256}},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", test.kernel, test.d, test.blocks), func(t *testing.T) {
			kernel, err := kernels.Find(test.kernel)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.New(4096, 4096, 4096, test.d)
			if kernel.Number() == 2 {
				p = problem.New(4096, 1024, 4096, test.d)
			}
			programs, err := kernel.Build(p, "", test.blocks)
			if err != nil {
				t.Fatal(err)
			}
			model := mosaic.MemoryOf(programs[0]).Footprint
			launch, err := mosaic.Lower(programs, mosaic.Options{VMEMBytes: model - model/16})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Compile(t.Context(), "v5e:2x2", launch.Module())
			var big *backend.TooBigError
			if !errors.As(err, &big) {
				t.Fatalf("%v, want too big", err)
			}
			t.Logf("counted %.2f MiB, libtpu needs %.2f", float64(model)/(1<<20), float64(big.Needed)/(1<<20))
			const rounding = 1 << 13 // libtpu tells two digits of a mebibyte
			if big.Needed < model-rounding || big.Needed > model+model/4 {
				t.Errorf("counted %d bytes, libtpu says %d", model, big.Needed)
			}
		})
	}
}

// TestLimits: the whole matrices of v1 fit the default limit of v5e at 1024, not
// at 2048, and do with more; past the chip's memory the answer takes no compiler.
func TestLimits(t *testing.T) {
	c := open(t, Options{})
	v1, err := kernels.Find("v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		size  int
		limit int64
		big   bool
	}{{1024, 0, false}, {2048, 0, true}, {8192, 128 << 20, true}} {
		p := problem.New(test.size, test.size, test.size, tile.Float32)
		start := time.Now()
		_, err := c.CompileKernels(t.Context(), "v5e", build(t, v1, p), backend.Params{VMEMBytes: test.limit})
		var big *backend.TooBigError
		if errors.As(err, &big) != test.big || !test.big && err != nil {
			t.Errorf("v1 %d with %d bytes: %v", test.size, test.limit, err)
		}
		if test.big && (time.Since(start) > 5*time.Second || big.Needed <= big.Limit) {
			t.Errorf("v1 %d: %v after %v", test.size, err, time.Since(start))
		}
	}
}

// broken is a program whose kernel has lost an attribute.
func broken(t *testing.T, remove string) string {
	t.Helper()
	v1, _ := kernels.Find("v1")
	launch, err := mosaic.Lower(build(t, v1, problem.New(128, 128, 128, tile.Float32)), mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := &launch.Kernels[0]
	if k.Body = strings.Replace(k.Body, remove, "", 1); remove != "" && !strings.Contains(k.Body, "func.func") {
		t.Fatal("nothing left")
	}
	return launch.Module()
}

func TestFailures(t *testing.T) {
	c := open(t, Options{Parallel: 1})
	var wrong *CompileError
	var crash *CrashError
	_, err := c.Compile(t.Context(), "v5e:2x2", "module @m { func.func }")
	if !errors.As(err, &wrong) || strings.Contains(err.Error(), "\n") {
		t.Errorf("no StableHLO: %v", err)
	}
	if _, err = c.Compile(t.Context(), "v99:2x2", broken(t, "")); !errors.As(err, &wrong) {
		t.Errorf("no such topology: %v", err)
	}
	if _, err = c.Compile(t.Context(), "v5e:2x2", broken(t, "dimension_semantics = [], function_type = (memref<128x128xf32, #tpu.memory_space<vmem>>, memref<128x128xf32, #tpu.memory_space<vmem>>, memref<128x128xf32, #tpu.memory_space<vmem>>) -> (), ")); !errors.As(err, &crash) {
		t.Errorf("a kernel without a type: %v", err)
	}
	t.Log(err)
	if _, err = c.Compile(t.Context(), "v5e:2x2", broken(t, "")); err != nil {
		t.Errorf("after a crash: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Compile(gone, "v5e:2x2", broken(t, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}

	slow := open(t, Options{Parallel: 1, Limit: time.Millisecond})
	if _, err = slow.Compile(t.Context(), "v5e:2x2", broken(t, "")); !errors.As(err, &crash) || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("past the limit: %v", err)
	}
	flag := open(t, Options{Parallel: 1, Flags: "--xla_no_such_flag=1"})
	if _, err = flag.Compile(t.Context(), "v5e:2x2", broken(t, "")); !errors.As(err, &crash) || !strings.Contains(err.Error(), "xla_no_such_flag") {
		t.Errorf("a misspelt flag: %v", err)
	}
	if _, err = c.CompileKernels(t.Context(), "v9", nil, backend.Params{}); err == nil || !strings.Contains(err.Error(), "v7x") {
		t.Errorf("an unknown generation: %v", err)
	}
}

// TestOpen: what is missing is told, with how to get it.
func TestOpen(t *testing.T) {
	t.Setenv("MATLADDER_PLUGINS", t.TempDir())
	want := "go run ./cmd/plugin install tpu"
	if !supported {
		want = ErrNoCompiler.Error()
	}
	if _, err := Open(Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := Open(Options{Library: "no/such/libtpu.so"}); err == nil {
		t.Error("a library that is not there")
	}
}

// TestParallel compiles more programs at a time than there are children.
func TestParallel(t *testing.T) {
	c := open(t, Options{Parallel: 2})
	module := broken(t, "")
	errs := make(chan error)
	for range 6 {
		go func() {
			_, err := c.Compile(t.Context(), "v5e:2x2", module)
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
