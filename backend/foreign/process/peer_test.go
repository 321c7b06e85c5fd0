//go:build linux

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/internal/ccompilertest"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// standIn builds the program and a library of a known behavior.
func standIn(t *testing.T) (program string, l Library) {
	return standInFor(t, "openblas", "libopenblas.so.0", "testdata/standin.c")
}

func standInFor(t *testing.T, name, file, source string) (program string, l Library) {
	t.Helper()
	folder := t.TempDir()
	program, err := Build(context.Background(), folder)
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, file)
	ccompilertest.Shared(t, path, source)
	found := Find(name, []string{folder})
	if len(found) == 0 || found[0].Path != path {
		t.Fatalf("Find in %s: %+v", folder, found)
	}
	return program, found[0]
}

func mustOpen(t *testing.T, program string, l Library) *Backend {
	t.Helper()
	b, err := Open(context.Background(), Options{Program: program, Library: l, Threads: 1, Host: machine.Device{Key: "here"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// coreOf is the process and its problem.
func coreOf(e backend.Executable) *executable {
	return seeded.Inner(e).(*stage.Executable).Core().(*executable)
}

// run takes a product through what the harness does with it, and returns the
// verdict.
func run(b *Backend, p problem.Matmul, variant, fault string) (backend.CheckResult, error) {
	return runOn(b, backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}, variant, fault)
}

func runOn(b *Backend, spec backend.InputSpec, variant, fault string) (backend.CheckResult, error) {
	return runFully(context.Background(), b, spec, variant, fault)
}

func runSpec(ctx context.Context, b *Backend, spec backend.InputSpec) (backend.CheckResult, error) {
	return runFully(ctx, b, spec, "", "")
}

func runFully(ctx context.Context, b *Backend, spec backend.InputSpec, variant, fault string) (backend.CheckResult, error) {
	made, err := b.Solve(ctx, backend.ProblemSpec{Problem: spec.Problem, Variant: variant})
	if err != nil {
		return backend.CheckResult{}, err
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	if err := e.LoadSeeded(ctx, spec); err != nil {
		return backend.CheckResult{}, err
	}
	for _, launches := range []int{1, 3} {
		s, err := e.Run(ctx, launches)
		if err != nil {
			return backend.CheckResult{}, err
		}
		if s.Elapsed <= 0 || s.Method != "direct" {
			return backend.CheckResult{}, errors.New("a sample without a time")
		}
	}
	return e.Check(ctx, backend.CheckSpec{InputSpec: spec, Fault: fault})
}

func TestStandIn(t *testing.T) {
	program, library := standIn(t)
	b := mustOpen(t, program, library)
	if name, version := b.Plugin(); b.Name() != "openblas" || name != "libopenblas.so.0" || version != "0.0.0 standin" {
		t.Errorf("%s is %s %s", b.Name(), name, version)
	}
	float, integer := problem.New(33, 70, 19, tile.Float32), problem.New(33, 70, 19, tile.Int8)
	batch := problem.New(5, 7, 3, tile.Float32)
	batch.Batch = 4
	unsigned := integer
	unsigned.A = tile.Uint8
	for _, test := range []struct {
		p       problem.Matmul
		variant string
	}{{float, ""}, {batch, ""}, {integer, Unsigned}, {unsigned, ""}} {
		if got := b.Variants(test.p); !slices.Contains(got, test.variant) {
			t.Errorf("%s: variants %q", test.p, got)
		}
		if r, err := run(b, test.p, test.variant, ""); err != nil || !r.OK {
			t.Errorf("%s %s: %+v, %v", test.p, test.variant, r, err)
		}
		if r, err := runOn(b, backend.InputSpec{Problem: test.p, Seed: 3, Dist: check.Exact}, test.variant, ""); err != nil || !r.OK {
			t.Errorf("%s %s, exact probe: %+v, %v", test.p, test.variant, r, err)
		}
		if r, err := run(b, test.p, test.variant, "tile"); err != nil || r.OK {
			t.Errorf("%s %s with a wrong tile: %+v, %v", test.p, test.variant, r, err)
		}
	}
	for _, p := range []problem.Matmul{problem.New(8, 8, 8, tile.BFloat16)} {
		if _, err := run(b, p, "", ""); !errors.Is(err, backend.ErrUnsupported) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := run(b, integer, "", ""); !errors.Is(err, backend.ErrUnsupported) { // only as uint8
		t.Errorf("%s: %v", integer, err)
	}
}

// TestStandIn_Misbehaves checks that no misbehavior passes for a result, and that
// none reaches beyond its product.
func TestStandIn_Misbehaves(t *testing.T) {
	program, library := standIn(t)
	b := mustOpen(t, program, library)
	p := problem.New(9, 8, 7, tile.Float32)
	for _, how := range []string{"wrong", "nothing"} {
		t.Setenv("STANDIN", how)
		if r, err := run(b, p, "", ""); err != nil || r.OK || r.Detail == "" {
			t.Errorf("%s: %+v, %v", how, r, err)
		}
	}
	t.Setenv("STANDIN", "crash")
	var crash *backend.CrashError
	_, err := run(b, p, "", "")
	if !errors.As(err, &crash) || !strings.Contains(err.Error(), "segmentation fault") || !strings.Contains(err.Error(), "bad kernel") {
		t.Errorf("crash: %v", err)
	}
	t.Setenv("STANDIN", "")
	if r, err := run(b, p, "", ""); err != nil || !r.OK {
		t.Errorf("after a crash: %+v, %v", r, err)
	}
}

// TestStandIn_Hangs checks that a product that does not end is ended with its
// context, and so is its process.
func TestStandIn_Hangs(t *testing.T) {
	program, library := standIn(t)
	b := mustOpen(t, program, library)
	t.Setenv("STANDIN", "hang")
	p := problem.New(9, 8, 7, tile.Float32)
	made, err := b.Solve(context.Background(), backend.ProblemSpec{Problem: p})
	if err != nil {
		t.Fatal(err)
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	if err := e.LoadSeeded(t.Context(), backend.InputSpec{Problem: p, Seed: 3, Dist: "uniform"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := e.Run(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a run that hangs: %v", err)
	}
	if coreOf(e).process.Alive() {
		t.Error("its process goes on")
	}
	var crash *backend.CrashError
	if _, err := e.Run(context.Background(), 1); !errors.As(err, &crash) {
		t.Errorf("the next run: %v", err)
	}
}

// TestStopped checks that a process takes no time from others between requests.
func TestStopped(t *testing.T) {
	program, library := standIn(t)
	b := mustOpen(t, program, library)
	made, err := b.Solve(context.Background(), backend.ProblemSpec{Problem: problem.New(9, 8, 7, tile.Float32)})
	if err != nil {
		t.Fatal(err)
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	pid := coreOf(e).process.Pid()
	state := ""
	for range 100 { // the signal is on its way
		state = processState(t, pid)
		if state == "T" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the process is in state %s, want T", state)
}

func processState(t *testing.T, pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

// TestOpen_Refuses checks what is no library of the kind.
func TestOpen_Refuses(t *testing.T) {
	program, library := standIn(t)
	for path, want := range map[string]string{"libnowhere.so": "libnowhere.so", library.Path: "no oneDNN"} {
		l := Library{Name: "onednn", Path: path, kind: "onednn"}
		_, err := Open(context.Background(), Options{Program: program, Library: l, Threads: 1})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBuild_NoCompiler(t *testing.T) {
	t.Setenv("CC", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(context.Background(), t.TempDir()); !errors.Is(err, ErrNoCompiler) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without a compiler: %v", err)
	}
}

// TestLibraries runs what is installed. MATLADDER_REQUIRE names libraries that
// must be.
func TestLibraries(t *testing.T) {
	required := strings.Split(os.Getenv("MATLADDER_REQUIRE"), ",")
	program, err := Build(context.Background(), t.TempDir())
	if err != nil && !slices.ContainsFunc(required, func(n string) bool { return slices.Contains(Names(), n) }) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			found := Find(name, nil)
			if len(found) == 0 && slices.Contains(required, name) {
				t.Fatalf("%s is required and not installed: %s", name, Install(name))
			} else if len(found) == 0 {
				t.Skipf("not installed: %s", Install(name))
			}
			if found[0].kind == kindTorch {
				testFamilies(t, mustOpen(t, "", found[0]))
				return
			}
			b := mustOpen(t, program, found[0])
			testLibrary(t, b)
			b.options.Packed = true // what it does not pack is unsupported
			testLibrary(t, b)
		})
	}
}

// testLibrary runs shapes that no block divides, but for k, a multiple of 4: at
// others oneDNN 3.13.2 with AMX has at times wrong int8 products, which a sweep
// tells as wrong. Integers are small: on processors without VNNI oneDNN adds pairs of
// int8 products in 16 bits, which larger ones overflow.
func testLibrary(t *testing.T, b *Backend) {
	mixed := problem.New(65, 132, 97, tile.BFloat16)
	mixed.Out = tile.Float32
	list := []problem.Matmul{problem.New(65, 132, 97, tile.Float32), mixed, problem.New(65, 132, 97, tile.BFloat16), problem.New(65, 132, 97, tile.Int8)}
	half := problem.New(65, 132, 97, tile.Float16)
	batch := problem.New(17, 20, 33, tile.Float32)
	batch.Batch = 3
	list = append(list, half, batch)
	half.Out = tile.Float32
	list = append(list, half)
	for _, p := range append(list, scaledProducts(65, 132, 97)...) {
		inputs := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
		if p.A.IsInteger() {
			inputs.Dist = check.Integers
		}
		for _, variant := range b.Variants(p) {
			r, err := runOn(b, inputs, variant, "")
			if errors.Is(err, backend.ErrUnsupported) {
				t.Logf("%s %s %s: %v", p, p.Quant, variant, err)
				continue
			} else if err != nil || !r.OK || r.Quantized { // small integers are no quantized floats
				t.Errorf("%s %s %s: %+v, %v", p, p.Quant, variant, r, err)
			}
			if exact := inputs; !p.A.IsInteger() && check.HasExact(p) {
				exact.Dist = check.Exact
				if r, err := runOn(b, exact, variant, ""); err != nil || !r.OK {
					t.Errorf("%s %s %s, exact probe: %+v, %v", p, p.Quant, variant, r, err)
				}
			}
			if r, err := runOn(b, inputs, variant, "tile"); err != nil || r.OK {
				t.Errorf("%s %s %s with a wrong tile: %+v, %v", p, p.Quant, variant, r, err)
			}
		}
	}
}
